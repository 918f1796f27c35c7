/**
 * `sixtables ids permute`: new ids or names for migrated rows, made from their old numbers, and the way back. It needs no server and no
 * folder.
 *
 *   42  ─▶  734113       an id of 1 to --size
 *   42  ─▶  8k2q0…       with --names: 13 characters
 *
 * With the same secret and size the answers never change, on any machine and in any version: migrated data depends on them.
 */
import { KeyPermutation } from '@sixtables/engine'
import type { Flags, Io } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { printed } from '../../framework/print.ts'
import { stdinWord } from '../../framework/words.ts'
import { understood } from '../../target/ask.ts'

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
