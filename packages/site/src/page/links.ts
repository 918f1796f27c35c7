/**
 * Data and questions in a link, behind its `#`. The page shows them, and writes or runs them when the visitor agrees.
 *
 *   #fixture=-%20key%3A%20ToDo%3A1        entities, YAML
 *   #query=SELECT%20*%20FROM%20ToDo       a query, GQL; also beside a fixture
 *   #lab=hot-key&seed=3&set=keys%3D5      a lab with settings of its own
 *   #console=/labs/hot-key                a page of the console, which opens at once
 */
import type { LabOffer } from '@sixtables/bench'

/** Links are shared in messages. */
const charsMax = 16_384
const seedMax = 2 ** 32 - 1

export interface LabLink {
  readonly name: string
  readonly seed: number
  readonly settings: Readonly<Record<string, number>>
}

export interface Link {
  readonly fixture?: string
  readonly query?: string
  readonly lab?: LabLink
  readonly console?: string
}

const known = ['fixture', 'query', 'lab', 'seed', 'set', 'console']

/** @param hash - as `location.hash` has it. @throws Error with a sentence about a link that no page wrote */
export function readLink(hash: string): Link {
  if (hash.length > charsMax) throw new Error(`A link has at most ${charsMax} characters; this one has ${hash.length}.`)
  const members = new URLSearchParams(hash.slice(1))
  for (const [name, text] of members) {
    if (!known.includes(name)) throw new Error(`A link brings ${known.join(', ')}; this one has “${name}”.`)
    if (text.trim() === '') throw new Error(`This link has an empty “${name}”.`)
    if (name !== 'set' && members.getAll(name).length > 1) throw new Error(`This link has more than one “${name}”.`)
  }
  const one = (name: string): Record<string, string> => {
    const text = members.get(name)
    return text === null ? {} : { [name]: text }
  }
  return { ...one('fixture'), ...one('query'), ...one('console'), ...labIn(members) }
}

function labIn(members: URLSearchParams): { readonly lab?: LabLink } {
  const [name, seed = '1'] = [members.get('lab'), members.get('seed') ?? undefined]
  const set = members.getAll('set')
  if (name === null) {
    if (members.has('seed') || set.length > 0) throw new Error('This link has a seed or settings without a lab.')
    return {}
  }
  if (!/^\d+$/.test(seed) || Number(seed) > seedMax) {
    throw new Error(`A seed is a whole number from 0 to ${seedMax}; this link has “${seed}”.`)
  }
  const settings = set.map((text): [string, number] => {
    const [, setting, value] = /^([^=]+)=(-?[\d.]+)$/.exec(text) ?? []
    if (setting === undefined || !Number.isFinite(Number(value))) {
      throw new Error(`A setting is written set=name%3Dnumber; this link has “${text}”.`)
    }
    return [setting, Number(value)]
  })
  return { lab: { name, seed: Number(seed), settings: Object.fromEntries(settings) } }
}

/** A lab and its settings in words. @throws Error for a lab, a setting or a value that is not offered */
export function labInWords({ name, seed, settings }: LabLink, labs: readonly LabOffer[]): string {
  const lab = labs.find((one) => one.name === name)
  if (lab === undefined)
    throw new Error(`There is no lab “${name}”; there is ${labs.map((one) => one.name).join(', ')}.`)
  const lines = Object.entries(settings).map(([setting, value]) => {
    const offered = lab.settings.find((one) => one.name === setting)
    if (offered === undefined) {
      const names = lab.settings.map((one) => one.name).join(', ') || 'none'
      throw new Error(`The lab ${name} has no setting “${setting}”; it has ${names}.`)
    }
    const { least, most, unit } = offered
    if (value < least || value > most) {
      throw new Error(`The setting ${setting} is from ${least} to ${most} ${unit}; this link has ${value}.`)
    }
    return `${setting}: ${value} ${unit}, instead of ${offered.value}`
  })
  return [`${name}: ${lab.title}`, `seed: ${seed}`, ...lines].join('\n')
}
