/** A worker that runs one task of the labs; the emulator's worker (lab-tasks.ts) starts it, and ends it to cancel. */
import { doTask, type PlainTask, refusalOf, seldom } from '@sixtables/bench/tasks'

self.onmessage = async ({ data }: MessageEvent<PlainTask>) => {
  try {
    self.postMessage({
      answer: await doTask(
        data,
        seldom((progress) => self.postMessage({ progress })),
      ),
    })
  } catch (error) {
    self.postMessage({ refused: refusalOf(error) ?? `the lab broke off: ${error}` })
  }
}
