/**
 * A lab: a question, variants (arms) that run side by side, and expectations.
 *
 *   Lab ── arms ──▶ each runs through the real engine and records   figures · texts · charts · heatmaps
 *       └─ expectations ──▶ each looks at the figures of its arms and holds or does not
 *
 * - An arm touches the store through the engine's verbs alone; it never computes what it is to show.
 * - An arm takes time, chance and settings from its session: the same seed and settings give the same result, byte by byte.
 * - A lab has passed when every expectation holds whose arms were run.
 *
 * Ours. Capacities, thresholds and service times are named in settings.ts, where each says where it is from.
 */
// biome-ignore lint/suspicious/noImportCycles: the generated texts import their type alone.
import { labTexts } from './gen/lab-texts.ts'
import type { ArmResult } from './measure/recorder.ts'
import type { ArmSession } from './session.ts'
import type { SettingName } from './settings.ts'
import type { WireSession } from './sim/wire.ts'

/** The texts of a lab that its page has, docs/labs/NAME.md; the build takes them from there (scripts/generate.mjs). */
export interface PageTexts {
  readonly title: string
  readonly question: string
  /** The prediction that the learner makes before the run: a question, in a short paragraph. */
  readonly predict: string
  /** Two or three. */
  readonly exercises: readonly Exercise[]
  /** The behaviour of Firestore in Datastore mode, today's production, and the parts of the lesson that remain. */
  readonly today: string
  /** Where the figures and claims are from, one by one. */
  readonly sources: readonly string[]
}

/** The texts of a lab, as its runs and the catalogue repeat them. */
export interface LabTexts extends PageTexts {
  /** The theory, in two or three sentences. */
  readonly idea: string
}

export function textsOf({ title, question, predict, idea, exercises, today, sources }: LabTexts): LabTexts {
  return { title, question, predict, idea, exercises, today, sources }
}

export function defineLab(own: Omit<Lab, keyof PageTexts>): Lab {
  const texts = labTexts[own.name]
  if (texts === undefined)
    throw new Error(`there is no page docs/labs/${own.name}.md; npm run setup takes texts from new ones`)
  return { ...own, ...texts }
}

export interface Lab extends LabTexts {
  /** As on the command line, and as the file of its page. */
  readonly name: string
  /** The settings it reads, with its own defaults. */
  readonly settings: Partial<Readonly<Record<SettingName, number>>>
  readonly arms: readonly Arm[]
  readonly expectations: readonly Expectation[]
}

/** Texts of a lab may have `code` and [links](write-path.md) as Markdown has them; a link is relative to docs/labs. */
export interface Exercise {
  readonly ask: string
  /** Tried: its figures are from the command that `ask` names. */
  readonly answer: string
}

export interface Arm {
  readonly name: string
  /** One line: what is varied. */
  readonly about: string
  run(session: ArmSession): Promise<void>
  /**
   * The same client calls against a running server, in real time; absent where the arm's load is no client's. Arms whose outcome can be read back
   * over the wire judge it at the end.
   */
  drive?(wire: WireSession): Promise<void>
}

export function arm(name: string, about: string, run: Arm['run'], drive?: Arm['drive']): Arm {
  return { name, about, run, ...(drive && { drive }) }
}

/** Ways to do the same, by the names of their arms; `about` says what is varied. */
export type Ways<Way> = Readonly<Record<string, Way & Pick<Arm, 'about'>>>

export type Named<Way> = Way & Pick<Arm, 'name'>

/** An arm for each way, which runs it, and may send the same calls to a server. */
export function armsOf<Way>(
  ways: Ways<Way>,
  run: (session: ArmSession, way: Named<Way>) => Promise<void>,
  drive?: (wire: WireSession, way: Named<Way>) => Promise<void>,
): readonly Arm[] {
  return Object.entries(ways).map(([name, way]) => {
    const named = { ...way, name }
    return arm(name, way.about, (session) => run(session, named), drive && ((wire) => drive(wire, named)))
  })
}

export interface Expectation {
  /** The expected effect, in the present tense. */
  readonly says: string
  /** The arms it needs; it is not judged when one of them was not run. */
  readonly arms: readonly string[]
  judge(arm: (name: string) => ArmResult): Verdict
}

export interface Verdict {
  readonly holds: boolean
  /** The figures it rests on, in words. */
  readonly found: string
}

/**
 * Begins an expectation over figures, which its test gets in their order.
 *
 *   expected('shards multiply the writes').across('served', 'write-one', 'write-shards').holds((one, shards) => shards > 5 * one, '{} and {}/s')
 *   expected('ids: zero is refused').figure('id 0 accepted').is(0)
 */
export function expected(says: string): Claim {
  return new Claim(says)
}

class Claim {
  readonly #says: string
  readonly #figures: (readonly [arm: string, name: string])[] = []

  constructor(says: string) {
    this.#says = says
  }

  /** Adds figures of one arm. */
  of(arm: string, ...names: readonly string[]): this {
    for (const name of names) this.#figures.push([arm, name])
    return this
  }

  /** Adds one figure of several arms. */
  across(name: string, ...arms: readonly string[]): this {
    for (const arm of arms) this.#figures.push([arm, name])
    return this
  }

  /** Adds a figure of the arm that stands before the colon of the sentence. */
  figure(name: string): this {
    return this.of(this.#says.slice(0, this.#says.indexOf(':')), name)
  }

  is(wanted: number): Expectation {
    return this.holds((value) => value === wanted)
  }

  above(bound: number): Expectation {
    return this.holds((value) => value > bound)
  }

  below(bound: number): Expectation {
    return this.holds((value) => value < bound)
  }

  /**
   * @param found - the figures in words: in a text, `{}` is the next figure, and `{3}` the third; default: each with its name and arm
   */
  holds(test: (...values: number[]) => boolean, found?: string | ((...values: number[]) => string)): Expectation {
    const figures = this.#figures
    const told = found ?? figures.map(([arm, name]) => `${name} of ${arm}: {}`).join(', ')
    return {
      says: this.#says,
      arms: [...new Set(figures.map(([arm]) => arm))],
      judge: (of) => {
        const values = figures.map(([arm, name]) => figureOf(of(arm), name))
        let next = 0
        const fill = (words: string): string =>
          words.replace(/\{(\d*)\}/g, (_, place: string) => `${values[place === '' ? next++ : Number(place) - 1]}`)
        return { holds: test(...values), found: typeof told === 'string' ? fill(told) : told(...values) }
      },
    }
  }
}

export function figureOf(arm: ArmResult, name: string): number {
  const figure = arm.figures.find((one) => one.name === name)
  if (figure === undefined) throw new Error(`the arm ${arm.name} recorded no figure ${name}`)
  return figure.value
}

/** A number as people read it: three significant digits, and whole numbers below 100,000 as they are, since they count something. */
export function inWords(value: number): string {
  const isCount = Number.isInteger(value) && Math.abs(value) < 100_000
  return value.toLocaleString('en-US', isCount ? {} : { maximumSignificantDigits: 3 })
}

/** Words in which each number stands as {@link inWords} has it. Numbers with commas, and digits within names, stay. */
export function numbersInWords(words: string): string {
  return words.replace(/(?<![\w.,:"/-])\d+(?:\.\d+)?(?![\w:"]|\/(?!s\b)|[.,]\d)/g, (number) => inWords(Number(number)))
}
