/**
 * Parses YAML of bounded depth, in a time that grows with its length. The parser of `yaml` makes a tree of tokens without recursion, but goes through it by recursion: `[` four
 * thousand times brings V8 so near the end of its stack that the compilation of a regular expression ends the process (seen on Node 20).
 * It also compares each key of a mapping with all before it: a mapping of 20,000 keys took 20 s.
 */
import type { CST, Document, LineCounter, YAMLMap } from 'yaml'
import { invalidArgument } from './errors.ts'
import { invariant } from './invariant.ts'

/** Levels of lists and mappings; an index has 5, an entity of a fixture at most some 60. */
export const yamlDepthMax = 200

/**
 * The first document. Another one behind it is an error MULTIPLE_DOCS of its errors, as in parseDocument() of the module.
 *
 * @param yaml - the module, which its callers load when they need it
 * @throws INVALID_ARGUMENT for a text that is nested too deep
 */
export function yamlDocument(
  yaml: typeof import('yaml'),
  text: string,
  { lines, intAsBigInt = false }: { readonly lines: LineCounter; readonly intAsBigInt?: boolean },
): Document.Parsed {
  const { Composer, YAMLParseError } = yaml
  const tokens = tokensOf(yaml, text, lines)
  const composer = new Composer({ intAsBigInt, prettyErrors: false, uniqueKeys: false })
  const [document, other] = composer.compose(tokens, true, text.length)
  if (other !== undefined) {
    const [start, end] = other.range
    document?.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'there is more than one document'))
  }
  invariant(document !== undefined, 'a text has a document, which may be empty')
  yaml.visit(document, {
    Map(_, map) {
      for (const start of repeatedKeys(yaml, map)) {
        document.errors.push(new YAMLParseError([start, start + 1], 'DUPLICATE_KEY', 'Map keys must be unique'))
      }
    },
  })
  return document
}

function repeatedKeys({ isScalar }: typeof import('yaml'), { items }: YAMLMap): number[] {
  const seen = new Set<unknown>()
  return items.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    const isRepeated = seen.has(key.value)
    seen.add(key.value)
    return isRepeated ? [key.range?.[0] ?? 0] : []
  })
}

/** As `new Parser().parse(text)`, but ends where the text is nested too deep: 10 MB of `- ` would take 20 s. */
function tokensOf({ Lexer, Parser }: typeof import('yaml'), text: string, lines: LineCounter): readonly CST.Token[] {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens: CST.Token[] = []
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    // The document, and the lists and mappings that are open in it.
    if (parser.stack.length > 1 + yamlDepthMax)
      throw invalidArgument(`the text is nested deeper than ${yamlDepthMax} levels`)
  }
  tokens.push(...parser.end())
  return tokens
}
