/** Processes, as the system tells of them: whether one works or waits, and which ones have a variable. */
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

/**
 * Kills the processes whose environment has a variable, such as `MARK=4f1c`: those that inherited it, also in a group of their own. One that
 * is started meanwhile is found by the next look. Nothing is killed where the system does not tell, which is all but Linux.
 */
export function killThoseWith(variable: string): void {
  const killed = new Set<string>()
  let more = true
  while (more) {
    const found = processesWith(variable).filter((pid) => !killed.has(pid))
    more = found.length > 0
    for (const pid of found) {
      killed.add(pid)
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  }
}

function processesWith(variable: string): readonly string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable)
    } catch {
      // It has ended, or is another user's.
      return false
    }
  })
}
