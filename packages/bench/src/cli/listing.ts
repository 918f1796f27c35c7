/** The lists of labs and of settings. */
import { labs } from '../labs/catalogue.ts'
import type { InkLine } from '../report/ink.ts'
import { mostOf } from '../setting.ts'
import { settingNames, settings } from '../settings.ts'

export function listLabs(): InkLine[] {
  return labs.flatMap((lab) => [
    [{ text: lab.name, colour: 15 }, `   ${lab.title}`],
    ...lab.arms.map((arm): InkLine => [`    ${arm.name.padEnd(26)} ${arm.about}`]),
  ])
}

export function listSettings(): InkLine[] {
  return settingNames.flatMap((name) => {
    const { value, unit, about, source = 'ours', least = 0 } = settings[name]
    const readers = labs.filter((lab) => lab.settings[name] !== undefined)
    const own = readers
      .filter((lab) => lab.settings[name] !== value)
      .map((lab) => `, ${lab.settings[name]} in ${lab.name}`)
    return [
      [{ text: name, colour: 15 }, ` = ${value} ${unit}${own.join('')}`],
      [`    ${about}; ${least} to ${mostOf(settings[name])}`],
      [{ text: `    ${source}`, colour: 244 }],
    ] satisfies InkLine[]
  })
}
