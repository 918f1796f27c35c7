/** The machine's scheduler for tests that count turns: time stands still, so a slice ends after a known number of rows. */
import { type Scheduler, systemScheduler } from '../clock.ts'

export function turnScheduler(onTurn: () => void): Scheduler {
  const defer = (task: () => void): void => {
    onTurn()
    systemScheduler.defer(task)
  }
  return { ...systemScheduler, steadyMs: () => 0, defer }
}
