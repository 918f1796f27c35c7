/** All labs, chapters and challenges as plain data, for a page that offers them. */
import { challenges } from '../challenges/catalogue.ts'
import { type Chapter, chapters } from '../course.ts'
import type { Exercise } from '../lab.ts'
import { labs } from '../labs/catalogue.ts'
import { mostOf } from '../setting.ts'
import { type SettingName, settings } from '../settings.ts'

export interface Catalogue {
  readonly chapters: readonly Chapter[]
  /** In the order of the course. */
  readonly labs: readonly LabOffer[]
  /** From easy to hard. */
  readonly challenges: readonly ChallengeOffer[]
}

export interface LabOffer {
  readonly name: string
  readonly title: string
  readonly question: string
  readonly predict: string
  readonly idea: string
  readonly exercises: readonly Exercise[]
  readonly today: string
  readonly sources: readonly string[]
  readonly arms: readonly { readonly name: string; readonly about: string }[]
  readonly settings: readonly SettingOffer[]
}

export interface SettingOffer {
  readonly name: string
  /** The lab's own default. */
  readonly value: number
  readonly least: number
  readonly most: number
  readonly unit: string
  readonly about: string
}

export interface ChallengeOffer {
  readonly name: string
  readonly title: string
  readonly minutes: number
  readonly task: string
  /** The lab that explains the problem. */
  readonly lab: string
  /** The functions that a program must export. */
  readonly functions: readonly string[]
  readonly goals: readonly string[]
}

export function catalogue(): Catalogue {
  return {
    chapters,
    labs: labs.map((lab): LabOffer => {
      const { name, title, question, predict, idea, exercises, today, sources, arms } = lab
      return {
        ...{ name, title, question, predict, idea, exercises, today, sources },
        arms: arms.map((arm) => ({ name: arm.name, about: arm.about })),
        settings: (Object.entries(lab.settings) as [SettingName, number][]).map(([setting, value]) => {
          const { unit, about, least = 0 } = settings[setting]
          return { name: setting, value, least, most: mostOf(settings[setting]), unit, about }
        }),
      }
    }),
    challenges: challenges.map(({ name, title, minutes, task, lab, functions, goals }) => ({
      ...{ name, title, minutes, task, lab, functions: functions.map((one) => one.name) },
      goals: goals.map(({ says }) => says),
    })),
  }
}
