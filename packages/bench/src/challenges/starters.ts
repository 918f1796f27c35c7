/**
 * Programs to begin with in other languages: each answers calls as lines of JSON (command-instance.ts), and uses the server that it is told of.
 *
 *   starters/LANGUAGE/solution.…     the whole program, for customer-keys; its part between two marks is the learner's
 *   starters/LANGUAGE/NAME.…         that part for another challenge; where there is none, the functions are yet to be written
 */
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { named } from '../cli/errors.ts'
import type { Challenge } from './challenge.ts'
import type { ProgramFunction } from './program-process.ts'

export interface Language {
  readonly name: string
  /** The first one is the program. */
  readonly files: readonly string[]
  readonly command: string
  /** Tools that it needs, and the way by which it reaches the store; follows `It needs`. */
  readonly needs: string
  readonly stub: (one: ProgramFunction) => string
  readonly table: (functions: readonly ProgramFunction[]) => string
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const parameters = ({ takes }: ProgramFunction): string[] => Object.keys(takes)

const python: Language = {
  name: 'python',
  files: ['solution.py'],
  command: 'python3 solution.py',
  needs: 'Python 3.9 or newer. It uses the HTTP JSON API, and needs no package.',
  stub: (one) =>
    `def ${snake(one.name)}(${['store', ...parameters(one)].join(', ')}):\n    raise NotImplementedError("${one.name} is yet to be written")\n`,
  table: (functions) => `CALLS = {${functions.map(({ name }) => `"${name}": ${snake(name)}`).join(', ')}}\n`,
}

const javascript: Language = {
  name: 'javascript',
  files: ['solution.js', 'package.json'],
  command: 'node solution.js',
  needs: 'Node 20.19 or newer. It uses `@google-cloud/datastore`: first run `npm install` in the folder.',
  stub: (one) =>
    `async function ${one.name}({ ${parameters(one).join(', ')} }) {\n  throw new Error('${one.name} is yet to be written')\n}\n`,
  table: (functions) => `const calls = { ${functions.map(({ name }) => name).join(', ')} }\n`,
}

const go: Language = {
  name: 'go',
  files: ['solution.go', 'go.mod'],
  command: 'go build -o program . && exec ./program',
  needs: 'Go 1.19 or newer. It uses the HTTP JSON API, and needs no module.',
  stub: (one) =>
    `func ${one.name}(store *Store, call Object) (any, error) {\n\treturn nil, errors.New("${one.name} is yet to be written")\n}\n`,
  table: (functions) =>
    `var calls = map[string]func(*Store, Object) (any, error){${functions.map(({ name }) => `"${name}": ${name}`).join(', ')}}\n`,
}

const java: Language = {
  name: 'java',
  files: ['Solution.java'],
  command: 'java Solution.java',
  needs: 'a JDK 17 or newer. It uses the HTTP JSON API, and needs no library.',
  stub: (one) =>
    `    static Object ${one.name}(Store store, Map<String, Object> call) throws Exception {\n        throw new UnsupportedOperationException("${one.name} is yet to be written");\n    }\n`,
  table: (functions) =>
    `    static final Map<String, Function> CALLS = Map.of(${functions.map(({ name }) => `"${name}", Solution::${name}`).join(', ')});\n`,
}

export const languages: readonly Language[] = [javascript, python, go, java]

/** @throws UsageError */
export function languageOf(name: string): Language {
  return named(languages, 'starter in the language', name)
}

/** Whether the given design of a challenge is there in a language, and not only what is yet to be written. */
export function hasGiven({ name }: Challenge, language: Language): boolean {
  return name === 'customer-keys' || existsSync(starterFile(language, partOf(name, language)))
}

/** The files of a learner's folder: name and text. */
export function starterOf(challenge: Challenge, language: Language): readonly (readonly [string, string])[] {
  return language.files.map((file, i) => {
    const text = readFileSync(starterFile(language, file), 'utf8')
    return [file, i === 0 ? withPart(text, challenge, language) : text]
  })
}

function withPart(text: string, challenge: Challenge, language: Language): string {
  const { name, functions } = challenge
  if (name === 'customer-keys') return text
  const part = hasGiven(challenge, language)
    ? readFileSync(starterFile(language, partOf(name, language)), 'utf8')
    : functions.map(language.stub).join('\n')
  const lines = text.split('\n')
  const placeOf = (mark: string): number => lines.findIndex((line) => line.includes(`── ${mark} ──`))
  const [head, end] = [lines.slice(0, placeOf('your program') + 1), lines.slice(placeOf('the store'))]
  // As formatters of Python have it.
  const gap = language === python ? '\n' : ''
  return [...head, `${gap}\n${part}${gap}`, `${language.table(functions)}`, ...end].join('\n')
}

function partOf(name: string, { files: [program = ''] }: Language): string {
  return `${name}${extname(program)}`
}

function starterFile({ name }: Language, file: string): string {
  return fileURLToPath(new URL(`../../starters/${name}/${file}`, import.meta.url))
}
