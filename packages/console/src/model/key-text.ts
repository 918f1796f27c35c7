/**
 * Keys as they are typed, in both directions: `User:"ada"/ToDo:5`, root first. An id is a whole number; a name is in quotes, which it
 * needs only where it could be read as something else.
 *
 * K1  parseKeyPath(formatKeyPath(path)) is `path`, complete or with a kind alone at its end.          key-text.test.ts
 *
 * The same notation as the command line's; ids stay texts, since they have 64 bits.
 */

/** An element of a path in the API's JSON; without `id` and `name` it is a kind alone. */
export interface PathElement {
  readonly kind: string
  readonly id?: string
  readonly name?: string
}

/** A text that is no key; the message says where it stops being one. */
export class KeyTextError extends Error {}

const word = /"(?:[^"\\]|\\.)*"|[^\s"/:]+/y
const idMax = 2n ** 63n

export function formatKeyPath(path: readonly PathElement[]): string {
  return path
    .map(({ kind, id, name }) => {
      const plainKind = /^[A-Za-z_]\w*$/.test(kind) ? kind : JSON.stringify(kind)
      return id === undefined && name === undefined ? plainKind : `${plainKind}:${id ?? JSON.stringify(name)}`
    })
    .join('/')
}

/** @throws KeyTextError */
export function parseKeyPath(text: string): readonly PathElement[] {
  const path: PathElement[] = []
  let at = 0
  const next = (what: string): string => {
    word.lastIndex = at
    const found = word.exec(text)?.[0]
    if (found === undefined) throw wrong(`${what} is missing at position ${at + 1}`)
    at += found.length
    return found
  }
  do {
    if (path.length > 0) at++
    const kind = unquoted(next('a kind'))
    if (at === text.length) {
      path.push({ kind })
      return path
    }
    if (text[at] !== ':') throw wrong(`after the kind ${kind} comes a colon and an id or a name`)
    at++
    const identifier = next('an id or a name')
    if (!/^-?\d+$/.test(identifier)) path.push({ kind, name: unquoted(identifier) })
    else if (isId(identifier)) path.push({ kind, id: String(BigInt(identifier)) })
    else throw wrong(`${identifier} is not an id`)
  } while (text[at] === '/')
  if (at < text.length) throw wrong(`"${text.slice(at)}" was not expected`)
  return path
}

/** Whether its last element has an id or a name. */
export function isComplete(path: readonly PathElement[]): boolean {
  const last = path.at(-1)
  return last?.id !== undefined || last?.name !== undefined
}

function isId(text: string): boolean {
  const id = BigInt(text)
  return id !== 0n && id < idMax && id >= -idMax
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    return JSON.parse(text) as string
  } catch {
    throw wrong(`${text} is not a quoted text`)
  }
}

function wrong(what: string): KeyTextError {
  return new KeyTextError(`${what}. Write a key like ToDo:1 or User:"ada"/ToDo:5.`)
}

/** The problem of a text that is no key. */
export function keyProblem(text: string): string | undefined {
  try {
    parseKeyPath(text)
    return undefined
  } catch (error) {
    if (error instanceof KeyTextError) return error.message
    throw error
  }
}
