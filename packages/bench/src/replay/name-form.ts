/**
 * Names as numbers, so that a row of names can be gone on with: in their order, and in their form.
 *
 *   o-00001 … o-00606          of one length: each place is a digit, of the letters that are seen there
 *   Customer9 … Customer10     of several lengths: the first number in them that differs
 *
 * NF1  nameOf(numberOf(name)) is the name.                                                     name-form.test.ts
 * NF2  Of names of one length, numbers rise as the names do in the order of keys.              name-form.test.ts
 */

export interface NameForm {
  numberOf(name: string): bigint
  /** A number that has no place in the form comes round to one that has. */
  nameOf(number: bigint): string
  /** How many numbers have a name, from 0 on; `undefined`: all. */
  readonly room: bigint | undefined
}

/** @returns `undefined` of names that have no form in common, such as words */
export function nameFormOf(names: readonly string[]): NameForm | undefined {
  const [first = ''] = names
  const isPlain = names.every((name) => name.length === first.length && /^[\x20-\x7e]*$/.test(name))
  return isPlain ? placesForm(names) : numberForm(names)
}

const digits = '0123456789'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** From few letters to many, each in the order of keys. */
const alphabets = [
  digits,
  `${digits}abcdef`,
  `${digits}ABCDEF`,
  upper.toLowerCase(),
  `${digits}${upper.toLowerCase()}`,
].concat(`${digits}${upper}`, `${digits}${upper}${upper.toLowerCase()}`, `-${digits}${upper}_${upper.toLowerCase()}`)

function placesForm(names: readonly string[]): NameForm | undefined {
  const places = [...(names[0] ?? '')].map((_, place) => lettersOf(new Set(names.map((name) => name.charAt(place)))))
  const known = places.filter((one) => one !== undefined)
  if (known.length < places.length) return undefined
  return {
    room: known.reduce((room, letters) => room * BigInt(letters.length), 1n),
    numberOf: (name) =>
      known.reduce((sum, letters, i) => sum * BigInt(letters.length) + BigInt(letters.indexOf(name.charAt(i))), 0n),
    nameOf: (number) => {
      let [rest, name] = [number, '']
      for (const letters of known.toReversed()) {
        const base = BigInt(letters.length)
        name = letters.charAt(Number(((rest % base) + base) % base)) + name
        rest = (rest - (((rest % base) + base) % base)) / base
      }
      return name
    },
  }
}

/** The letters of a place: a digit may become any, another letter that never changes stays. */
function lettersOf(seen: ReadonlySet<string>): string | undefined {
  const [one = ''] = seen
  if (seen.size === 1 && !digits.includes(one)) return one
  return alphabets.find((letters) => [...seen].every((letter) => letters.includes(letter)))
}

function numberForm(names: readonly string[]): NameForm | undefined {
  const split = names.map((name) => name.split(/(\d+)/))
  const [first = []] = split
  const differs = first.findIndex((piece, i) => split.some((pieces) => pieces[i] !== piece))
  const isOne = (pieces: readonly string[]): boolean =>
    pieces.length === first.length && pieces.every((piece, i) => i === differs || piece === first[i])
  // A number with a zero before it would not come back as it was.
  const isNumber = (piece = ''): boolean => /^(?:0|[1-9]\d*)$/.test(piece)
  if (differs % 2 !== 1 || !split.every((pieces) => isOne(pieces) && isNumber(pieces[differs]))) return undefined
  return {
    room: undefined,
    numberOf: (name) => BigInt(name.split(/(\d+)/)[differs] ?? 0),
    nameOf: (number) => first.with(differs, `${number < 0n ? -number : number}`).join(''),
  }
}
