/**
 * `sixtables ids next|reserve|range|allocate`: the next ids of the counters, and ids to be excluded from automatic allocation; and
 * `ids permute`, without a server or a folder: new ids or names for migrated rows, made from their old numbers, and the way back.
 *
 *   42  ─▶  734113       an id of 1 to --size
 *   42  ─▶  8k2q0…       with --names: 13 characters
 *
 * With the same secret and size the answers never change, on any machine and in any version: migrated data depends on them.
 */
import { formatKeyPath, KeyPermutation, parseKeyPath, parseKindPath } from '@sixtables/engine'
import type { AllocatedAnswer, NextAnswer, NextIdAnswer, ReserveAnswer } from '../../admin/emulator/ids.ts'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import type { Flags, Io } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import { columns, printed } from '../framework/print.ts'
import { stdinWord } from '../framework/words.ts'
import { ask, understood } from '../target/ask.ts'
import { namespaceParameters, withTarget } from '../target/target.ts'

export function idsNext(flags: Flags, io: Io): Promise<number> {
  return answer(flags, io, 'next', kindRequest(flags), nextInWords)
}

export function idsReserve(flags: Flags, io: Io): Promise<number> {
  const keys = (flags['keys'] as readonly unknown[]).map(String)
  for (const key of keys) understood(() => parseKeyPath(key))
  return answer(flags, io, 'reserve', { keys }, ({ reserved }: ReserveAnswer) =>
    reserved.length === 0
      ? ['These keys have names, which are never given; there was nothing to do.']
      : reserved.map(({ words }) => words),
  )
}

export function idsRange(flags: Flags, io: Io): Promise<number> {
  const request = { ...kindRequest(flags), start: idIn(flags['start'], 'start'), end: idIn(flags['end'], 'end') }
  return answer(flags, io, 'range', request, allocatedInWords)
}

export function idsAllocate(flags: Flags, io: Io): Promise<number> {
  const { size, max } = flags
  if ((size === undefined) === (max === undefined)) {
    throw new UsageError('say how many ids with --size, or up to which one with --max')
  }
  const name = size === undefined ? 'max' : 'size'
  const request = { ...kindRequest(flags), [name]: idIn(flags[name], `--${name}`) }
  return answer(flags, io, 'allocate', request, allocatedInWords)
}

async function answer<Answer>(
  flags: Flags,
  io: Io,
  what: 'next' | 'reserve' | 'range' | 'allocate',
  request: Parameters | { readonly keys: readonly string[] },
  inWords: (answer: Answer, isRunning: boolean) => readonly string[],
): Promise<number> {
  const asked = { ...namespaceParameters(flags, io), ...request }
  const path = `/emulator/ids/${what}`
  return await withTarget(flags, io, async (target) => {
    const report = await ask<Answer>(
      target,
      what === 'next' ? { method: 'GET', path, query: asked as Parameters } : { method: 'POST', path, body: asked },
    )
    return printed(flags, io, report, () => inWords(report, target.isRunning))
  })
}

function allocatedInWords({ words }: AllocatedAnswer): readonly string[] {
  return [words]
}

/** The next ids in words. The source of automatic ids depends on the mode of the server, so it is unknown for a closed folder. */
function nextInWords(
  { of, automatic, scattered, sequential, storewide }: NextAnswer,
  isRunning: boolean,
): readonly string[] {
  const uses = (space: typeof automatic, other?: string): string =>
    [isRunning && automatic === space ? 'automatic ids' : undefined, other].filter(Boolean).join(', ')
  const id = (next: NextIdAnswer): string => next.id ?? 'none: used up'
  return [
    `The next ids of ${of}:`,
    ...columns([
      ['  scattered', id(scattered), `number ${scattered.counter} of the database`, uses('scattered', 'AllocateIds')],
      ['  sequential', id(sequential), 'of this kind and parent', uses('sequential', 'ranges')],
      ['  store-wide', id(storewide), `number ${storewide.counter} of the whole store`, uses('storewide')],
    ]),
  ]
}

function kindRequest(flags: Flags): Parameters {
  const path = understood(() => parseKindPath(String(flags['kind'])))
  const parent = formatKeyPath(path.slice(0, -1))
  return { ...(parent === '' ? {} : { parent }), kind: path.at(-1)?.kind }
}

function idIn(value: unknown, what: string): string {
  return `${wholeNumber(String(value), what)}`
}

export async function idsPermute(flags: Flags, io: Io): Promise<number> {
  const permute = permutationOf(flags)
  const given = (flags['ids'] as readonly unknown[]).map(String)
  const words = given.includes(stdinWord) ? (await io.readIn()).split(/\s+/).filter((word) => word !== '') : given
  if (given.includes(stdinWord) && given.length > 1)
    throw new UsageError('give ids or -, which reads them from stdin; not both')
  const pairs = words.map((from) => ({ from, to: understood(() => permute(from)) }))
  return printed(flags, io, pairs, () => pairs.map(({ from, to }) => `${from}\t${to}`))
}

function permutationOf(flags: Flags): (word: string) => string {
  const { secret, size } = flags
  const [isNames, isReverse] = [flags['names'] === true, flags['reverse'] === true]
  if (secret === undefined) {
    throw new UsageError(
      'say with --secret which permutation it is, with the same text for every row and for the way back',
    )
  }
  if (isNames === (size !== undefined)) {
    throw new UsageError('say with --size how many ids there are (the highest old number or more), or ask for --names')
  }
  // Names do not depend on the size.
  const of = isNames ? 1n : wholeNumber(String(size), '--size')
  const permutation = understood(() => new KeyPermutation({ secret: String(secret), size: of }))
  if (!isNames) {
    const map = isReverse ? permutation.originalOf.bind(permutation) : permutation.idOf.bind(permutation)
    return (word) => `${map(wholeNumber(word, 'an id'))}`
  }
  return isReverse
    ? (word) => `${permutation.originalOfName(word)}`
    : (word) => permutation.nameOf(wholeNumber(word, 'an id'))
}

function wholeNumber(word: string, what: string): bigint {
  if (!/^-?\d{1,19}$/.test(word)) throw new UsageError(`${what} is a whole number; got "${word}"`)
  return BigInt(word)
}
