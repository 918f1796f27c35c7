/** One task of the labs, in a worker of its own: lab-tasks.ts starts it for a lab, and the console for a program that it judges. Each ends it to cancel. */
import { doTask, judgeProgram, type PlainTask, type ProgramTask, refusalOf, seldom } from '@sixtables/bench/tasks'

/** Posts progress, what a program prints, and an answer or a refusal. */
export async function runTask(task: PlainTask | ProgramTask): Promise<void> {
  const onProgress = seldom((progress) => self.postMessage({ progress }))
  try {
    const answer =
      'program' in task
        ? await judgeProgram(task, onProgress, (printed) => self.postMessage({ printed }))
        : await doTask(task, onProgress)
    self.postMessage({ answer })
  } catch (error) {
    self.postMessage({ refused: refusalOf(error) ?? `the task broke off: ${error}` })
  }
}
