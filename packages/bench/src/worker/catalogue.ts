/** All labs, chapters and challenges as plain data, for a page that offers them. */
import { challenges } from '../challenges/catalogue.ts'
import type { Challenge } from '../challenges/challenge.ts'
import { givenProgram } from '../challenges/given.ts'
import { calls } from '../challenges/program-calls.ts'
// biome-ignore lint/suspicious/noImportCycles: the generated chapters import their type alone.
import { chapters } from '../gen/chapters.ts'
import { type LabTexts, textsOf } from '../lab.ts'
import { labs } from '../labs/catalogue.ts'
import { mostOf, type Setting, type SettingName, settings } from '../settings.ts'

/** Its title, number and the names are from the table of docs/course, the goals from its page. */
export interface Chapter {
  readonly number: number
  readonly title: string
  readonly goals: string
  /** The time that it takes, believed. */
  readonly minutes: number
  readonly labs: readonly string[]
  readonly challenges: readonly string[]
  /** Its page in docs/course. */
  readonly page: string
}

export interface Catalogue {
  readonly chapters: readonly Chapter[]
  /** In the order of the course. */
  readonly labs: readonly LabOffer[]
  /** From easy to hard. */
  readonly challenges: readonly ChallengeOffer[]
  /** The calls of a program and their answers, in Markdown. */
  readonly calls: readonly (readonly [call: string, answer: string])[]
}

export interface LabOffer extends LabTexts {
  readonly name: string
  readonly arms: readonly { readonly name: string; readonly about: string }[]
  readonly settings: readonly SettingOffer[]
}

/** Its value is the lab's own default. */
export interface SettingOffer extends Pick<Setting, 'value' | 'unit' | 'about'> {
  readonly name: string
  readonly least: number
  readonly most: number
}

export interface ChallengeOffer extends Pick<Challenge, 'name' | 'title' | 'minutes' | 'task' | 'lab'> {
  readonly functions: readonly string[]
  readonly goals: readonly string[]
  readonly program: string
}

export function catalogue(): Catalogue {
  return {
    chapters,
    labs: labs.map((lab) => ({
      name: lab.name,
      ...textsOf(lab),
      arms: lab.arms.map(({ name, about }) => ({ name, about })),
      settings: (Object.entries(lab.settings) as [SettingName, number][]).map(([name, value]) => {
        const { unit, about, least = 0 } = settings[name]
        return { name, value, least, most: mostOf(settings[name]), unit, about }
      }),
    })),
    challenges: challenges.map(({ name, title, minutes, task, lab, functions, goals }) => ({
      ...{ name, title, minutes, task, lab, functions: functions.map((one) => one.name) },
      goals: Object.values(goals).map(({ says }) => says),
      program: givenProgram(name),
    })),
    calls,
  }
}
