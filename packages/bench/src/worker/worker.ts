/**
 * A worker thread that runs one task of the labs and ends, for a program that does other work at the same time, such as the
 * console of the emulator. Terminating the thread cancels the task.
 *
 *   new Worker(this file, { workerData: task })  ──▶  {progress} … {progress}  ──▶  {answer} or {refused}
 *
 * Tasks and answers are plain JSON, so that both sides may be of slightly different versions.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { armYours } from '../challenges/challenge.ts'
import { judgeFolder, layOutChallenge } from '../challenges/folder.ts'
import { drawable } from '../report/drawable.ts'
import { doTask, type PlainTask, type Progress, refusalOf, seldom } from './tasks.ts'

export type WorkerTask =
  | PlainTask
  /** Writes a challenge into a folder. */
  | { readonly type: 'begin'; readonly challenge: string; readonly folder: string }
  | { readonly type: 'judge'; readonly folder: string }

export type WorkerMessage =
  | { readonly progress: Progress }
  | { readonly answer: unknown }
  /** The task is impossible, with the reason. */
  | { readonly refused: string }

async function work(task: WorkerTask): Promise<unknown> {
  switch (task.type) {
    case 'begin':
      layOutChallenge(task.challenge, task.folder, task.folder)
      return {}
    case 'judge': {
      const { challenge, results, ...verdict } = await judgeFolder(task.folder, {
        onProgress: (share) => tell(armYours, share),
        onOutput: (text) => void process.stdout.write(text),
      })
      return { challenge: challenge.name, ...verdict, results: results.map(drawable) }
    }
    default:
      return await doTask(task, tell)
  }
}

const tell = seldom((progress) => post({ progress }))

function post(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

/** Resolves after the parent has received the program's output, which does not travel with the messages. */
async function printed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}

/** Sends the last message of a task. */
async function end(message: WorkerMessage): Promise<void> {
  await printed()
  post(message)
}

try {
  await end({ answer: await work(workerData as WorkerTask) })
} catch (error) {
  const refused = refusalOf(error)
  if (refused === undefined) throw error
  await end({ refused })
}
