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
import { advice } from '../cli/advice.ts'
import { UsageError } from '../cli/errors.ts'
import { askedSettings, checkArms } from '../cli/run.ts'
import { labs } from '../labs/catalogue.ts'
import { drawable } from '../report/drawable.ts'
import { runLab } from '../runner.ts'
import { catalogue } from './catalogue.ts'

export type WorkerTask =
  | { readonly type: 'catalogue' }
  | {
      readonly type: 'run'
      readonly lab: string
      readonly seed: number
      /** Default: all. */
      readonly arms?: readonly string[] | undefined
      /** Settings by name; others keep the lab's own value. */
      readonly settings?: Readonly<Record<string, number>> | undefined
    }
  /** Writes a challenge into a folder. */
  | { readonly type: 'begin'; readonly challenge: string; readonly folder: string }
  | { readonly type: 'judge'; readonly folder: string }

export type WorkerMessage =
  | { readonly progress: { readonly arm: string; readonly share: number } }
  | { readonly answer: unknown }
  /** The task is impossible, with the reason. */
  | { readonly refused: string }

/** Shortest pause between progress messages: a lab makes progress at each step, but a reader looks only a few times a second. */
const progressEveryMs = 100

async function work(task: WorkerTask): Promise<unknown> {
  switch (task.type) {
    case 'catalogue':
      return catalogue()
    case 'run': {
      const lab = labs.find(({ name }) => name === task.lab)
      const names = labs.map(({ name }) => name)
      if (lab === undefined) throw new UsageError(`there is no lab ${task.lab}; ${advice(task.lab, names)}`)
      const { seed, arms } = task
      checkArms(arms, [lab])
      const set = Object.entries(task.settings ?? {}).map(([name, value]) => `${name}=${value}`)
      return drawable(await runLab(lab, { seed, arms, settings: askedSettings(set, [lab]), onProgress: tell }))
    }
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
  }
}

let toldAt = Number.NEGATIVE_INFINITY
let toldArm = ''

function tell(arm: string, share: number): void {
  const now = performance.now()
  if (arm === toldArm && now < toldAt + progressEveryMs) return
  toldAt = now
  toldArm = arm
  post({ progress: { arm, share } })
}

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
  if (!(error instanceof UsageError)) throw error
  await end({ refused: error.message })
}
