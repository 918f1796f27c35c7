/** One task of the labs, in a worker of its own; lab-tasks.ts starts it, and ends it to cancel. */
import { doTask, type PlainTask, refusalOf, seldom } from '@sixtables/bench/tasks'

/** Posts progress, and an answer or a refusal. */
export async function runTask(task: PlainTask): Promise<void> {
  try {
    self.postMessage({
      answer: await doTask(
        task,
        seldom((progress) => self.postMessage({ progress })),
      ),
    })
  } catch (error) {
    self.postMessage({ refused: refusalOf(error) ?? `the lab broke off: ${error}` })
  }
}
