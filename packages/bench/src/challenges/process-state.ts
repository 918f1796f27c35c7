/** Processes, as the system tells of them: whether one works or waits, and which ones have a variable. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Looks at the threads of a process, and of those that it has started.
 *
 * @returns whether none runs, wants to run or waits for a disk; `undefined` where the system does not tell, which is all but Linux
 */
export function isAsleep(pid: number): boolean | undefined {
  const isThreadAsleep = (thread: string): boolean => {
    const folder = `/proc/${pid}/task/${thread}`
    // The name of the program stands in parentheses before its state, and may have some of its own.
    const [state = ''] = /(?<=\) )\w(?!.*\) )/.exec(readFileSync(`${folder}/stat`, 'utf8')) ?? []
    if (state === 'R' || state === 'D') return false
    const children = readFileSync(`${folder}/children`, 'utf8').split(' ').filter(Boolean)
    return children.every((child) => isAsleep(Number(child)) === true)
  }
  return quietly(() => readdirSync(`/proc/${pid}/task`).every(isThreadAsleep), undefined)
}

/**
 * Kills the processes whose environment has a variable, such as `MARK=4f1c`: those that inherited it, also in a group of their own. One that
 * is started meanwhile is found by the next look. Nothing is killed where the system does not tell, which is all but Linux.
 */
export function killThoseWith(variable: string): void {
  const killed = new Set<string>()
  for (;;) {
    const found = processesWith(variable).filter((pid) => !killed.has(pid))
    if (found.length === 0) return
    for (const pid of found) {
      killed.add(pid)
      // One that has ended by itself cannot be killed.
      quietly(() => process.kill(Number(pid), 'SIGKILL'), false)
    }
  }
}

function processesWith(variable: string): readonly string[] {
  return quietly(() => readdirSync('/proc'), []).filter((pid) => {
    // Without a text, the process has ended, or is another user's.
    const environment = /^\d+$/.test(pid) ? quietly(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '') : ''
    return environment.split('\0').includes(variable)
  })
}

/** The result, or `otherwise` where the system refuses. */
function quietly<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise
  }
}
