/** The JSON of an entity's properties as a person writes it: read with the mistakes that JSON.parse passes over in silence. */
import { jsonText } from './json-text.ts'
import { isObject, type Json, type JsonObject } from './typed-json.ts'
import { unseen } from './visible-text.ts'

export class JsonSourceError extends Error {
  readonly at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.at = at
  }
}

const lineMax = 100

/** Values with room on one line stand on one. Characters that cannot be seen, or turn the text around them, are escapes. */
export function jsonSource(properties: JsonObject): string {
  return jsonText(properties, lineMax).replace(unseen, (one) =>
    one === '\n' ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** @throws JsonSourceError */
export function parseJsonSource(text: string): JsonObject {
  let json: Json
  try {
    json = JSON.parse(text) as Json
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const position = / at position (\d+)/.exec(reason)?.[1]
    throw new JsonSourceError(`This is not JSON: ${reason}`, position === undefined ? undefined : Number(position))
  }
  if (!isObject(json)) throw new JsonSourceError('The properties are an object: {"name": {"stringValue": "text"}}.')
  const twice = repeatedMember(text)
  if (twice !== undefined)
    throw new JsonSourceError(`The member ${twice} comes twice in one object; only the last would count.`)
  const rounded = roundedInteger(json)
  if (rounded !== undefined) {
    throw new JsonSourceError(
      `The integer near ${rounded} has too many digits for a number in JSON: write it in quotes.`,
    )
  }
  return json
}

/** A member that comes twice in one object of a valid JSON text. */
function repeatedMember(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g
  for (const [found, colon] of text.matchAll(token)) {
    if (found === '{') open.push(new Set())
    else if (found === '[') open.push(undefined)
    else if (found === '}' || found === ']') open.pop()
    else if (colon !== undefined) {
      const name = JSON.parse(found.slice(0, -colon.length)) as string
      const names = open.at(-1)
      if (names?.has(name) === true) return JSON.stringify(name)
      names?.add(name)
    }
  }
  return undefined
}

function roundedInteger(json: Json): string | undefined {
  if (json === null || typeof json !== 'object') return undefined
  const integer = isObject(json) ? json['integerValue'] : undefined
  if (Number.isInteger(integer) && !Number.isSafeInteger(integer)) return String(integer)
  const found = Object.values(json).map(roundedInteger)
  return found.find((one) => one !== undefined)
}
