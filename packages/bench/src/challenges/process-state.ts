/** Whether a process works or waits, as the system tells it. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Looks at the threads of a process, and of those that it has started.
 *
 * @returns whether none runs, wants to run or waits for a disk; `undefined` where the system does not tell, which is all but Linux
 */
export function isAsleep(pid: number): boolean | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const folder = `/proc/${pid}/task/${thread}`
      // The name of the program stands in parentheses before its state, and may have some of its own.
      const [state = ''] = /(?<=\) )\w(?!.*\) )/.exec(readFileSync(`${folder}/stat`, 'utf8')) ?? []
      if (state === 'R' || state === 'D') return false
      const children = readFileSync(`${folder}/children`, 'utf8').split(' ').filter(Boolean)
      return children.every((child) => isAsleep(Number(child)) === true)
    })
  } catch {
    return undefined
  }
}
