/**
 * Whether the server is there. One small call every two seconds asks for its start time; a call that fails asks at once.
 *
 *   open ──a call fails──▶ lost ──the server answers──▶ open, epoch + 1
 *
 * `epoch` grows when the server was lost or was started again: a view that depends on it loads anew all that it shows.
 */
import { signal } from '@preact/signals'
import type { ServerFacts } from '@sixtables/gateway/browser'
import { NewestAnswer } from '../model/newest-answer.ts'

/** Said with every call, so that the server leaves it out of requests, heat, statistics and findings. */
export const watcherHeaders: Readonly<Record<string, string>> = { 'X-Sixtables-Watcher': '1' }

const askEveryMs = 2000
const askWhileLostMs = 400

export const connection = signal<'open' | 'lost'>('open')
export const epoch = signal(0)
export const server = signal<ServerFacts | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined
const answers = new NewestAnswer()

/** A call did not reach the server. */
export function lost(): void {
  if (connection.value === 'lost') return
  // An answer on its way is of the server as it was.
  answers.overtake()
  connection.value = 'lost'
  askIn(askWhileLostMs)
}

/** Begins to watch; resolves after the first answer, or the first failure. */
export function watchServer(): Promise<void> {
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) askIn(0)
  })
  return ask()
}

function askIn(ms: number): void {
  clearTimeout(timer)
  timer = setTimeout(ask, ms)
}

async function ask(): Promise<void> {
  clearTimeout(timer)
  const isNewest = answers.ask()
  const options = { headers: watcherHeaders, cache: 'no-store', signal: AbortSignal.timeout(10_000) } as const
  const found: ServerFacts | undefined = await fetch('/emulator/server', options)
    .then((response) => (response.ok ? response.json() : undefined))
    .catch(() => undefined)
  if (!isNewest()) return
  if (found === undefined) connection.value = 'lost'
  else answered(found)
  if (!document.hidden) askIn(connection.value === 'lost' ? askWhileLostMs : askEveryMs)
}

function answered(found: ServerFacts): void {
  const isAnother = server.value !== undefined && server.value.startedAt !== found.startedAt
  const isNew = connection.value === 'lost' || isAnother
  if (server.value === undefined || isAnother) server.value = found
  connection.value = 'open'
  if (isNew) epoch.value++
}
