/**
 * The form of names of entities, by which a replay can make more of them: numbers for names, and names for numbers.
 *
 *   o-00001 … o-00606          of one length: each place is a digit, made of the characters seen at that place
 *   Customer9 … Customer10     of several lengths: the first number in them that differs
 *
 * After o-00606 the next name is o-00607. Numbers of names of one length are in the order of the keys.
 *
 * NF1  nameOf(numberOf(name)) is the name.                                                     name-form.test.ts
 */

export interface NameForm {
  numberOf(name: string): bigint
  /** A number beyond `room` wraps around. */
  nameOf(number: bigint): string
  /** How many numbers have a name, from 0 on; `undefined`: no limit. */
  readonly room: bigint | undefined
}

/** @returns `undefined` for names without a common form, such as words */
export function nameFormOf(names: readonly string[]): NameForm | undefined {
  const [first = ''] = names
  const isPlain = names.every((name) => name.length === first.length && /^[\x20-\x7e]*$/.test(name))
  return isPlain ? placesForm(names) : numberForm(names)
}

const digits = '0123456789'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** Sets of characters from small to large, each in the order of keys. */
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

/** The characters possible at a place: digits where a digit was seen; another character that never changes is kept. */
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
  // A number with leading zeros would not come back as the same text.
  const isNumber = (piece = ''): boolean => /^(?:0|[1-9]\d*)$/.test(piece)
  if (differs % 2 !== 1 || !split.every((pieces) => isOne(pieces) && isNumber(pieces[differs]))) return undefined
  return {
    room: undefined,
    numberOf: (name) => BigInt(name.split(/(\d+)/)[differs] ?? 0),
    nameOf: (number) => first.with(differs, `${number < 0n ? -number : number}`).join(''),
  }
}
