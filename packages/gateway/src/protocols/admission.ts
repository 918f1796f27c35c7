/**
 * Admission control: limits on connections, calls and bytes over all clients together. Each limit has a name, a default and an
 * answer (table: docs/reference/limits.md).
 *
 *   connections           a further connection is answered RESOURCE_EXHAUSTED and closed
 *   calls                 a further call is answered RESOURCE_EXHAUSTED
 *   unread answers        bytes of answers that clients have not read; above the limit the oldest unread answer is cut off
 *   requests              bytes of requests that are arriving or being answered; the request that passes the limit is answered
 *                         RESOURCE_EXHAUSTED
 *
 * B1  The memory held for clients is bounded by these limits and by the limits of one call.          overload.test.ts
 * B2  A client that reads its answers and finishes its requests is answered, whatever others do.     overload.test.ts
 *
 * Ours: the limits and their figures. An unread answer is cut off after a time, too.
 */
import { readFileSync } from 'node:fs'
import { DatastoreError } from '@sixtables/engine'
import { Looks } from './looks.ts'

export interface AdmissionLimits {
  /** `--max-connections` */
  readonly connectionsMax: number
  /** `--max-calls` */
  readonly callsMax: number
  /** `--max-unread-bytes` */
  readonly unreadBytesMax: number
  /** `--max-request-bytes` */
  readonly requestBytesMax: number
  /** How long an answer may lie unread, counted in looks of 5 s. */
  readonly unreadMsMax: number
}

/** Descriptors that are not for connections: LevelDB keeps up to 1,000 files open. */
const otherDescriptors = 1100

export const admissionLimitsDefault: AdmissionLimits = {
  connectionsMax: 10_000,
  callsMax: 20_000,
  unreadBytesMax: 512 * 1024 * 1024,
  requestBytesMax: 512 * 1024 * 1024,
  unreadMsMax: 120_000,
}

/** The defaults, with no more connections than the process may have descriptors. */
export function admissionLimitsHere(): AdmissionLimits {
  const descriptors = descriptorsMax()
  if (descriptors === undefined) return admissionLimitsDefault
  const connections = Math.max(descriptors - otherDescriptors, Math.floor(descriptors / 2))
  return { ...admissionLimitsDefault, connectionsMax: Math.min(connections, admissionLimitsDefault.connectionsMax) }
}

/** Only Linux tells. */
function descriptorsMax(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return found === undefined ? undefined : Number(found)
  } catch {
    return undefined
  }
}

/**
 * An answer on its way to a client, in a list from the oldest to the newest. What leaves the list forgets its neighbours: a
 * Set, or links kept, would lead from dead entries among the old objects to all later ones, and the collector of young
 * objects would take each answer for alive (measured: 10 µs of a lookup's 47 after the first full collection).
 */
export interface Unread {
  readonly bytes: number
  /** The look before it. */
  readonly since: number
  /** Ends it: its client will not get it. */
  cut: (() => void) | undefined
  older: Unread | undefined
  newer: Unread | undefined
}

/** How often unread answers are looked at. */
const lookMs = 5000

export class Admission {
  readonly limits: AdmissionLimits
  #calls = 0
  #unreadBytes = 0
  #oldest: Unread | undefined
  #newest: Unread | undefined
  #requestBytes = 0
  readonly #looks = new Looks(lookMs, () => this.#sweep())

  constructor(limits: AdmissionLimits = admissionLimitsHere()) {
    this.limits = limits
  }

  get calls(): number {
    return this.#calls
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  get requestBytes(): number {
    return this.#requestBytes
  }

  /** One more call; the caller ends it, refused or not. Answers why it is refused. */
  beginCall(): DatastoreError | undefined {
    this.#calls++
    const { callsMax } = this.limits
    if (this.#calls <= callsMax) return undefined
    return exhausted(`${callsMax} calls are under way already`, '--max-calls')
  }

  endCall(): void {
    this.#calls--
  }

  tooManyConnections(): DatastoreError {
    return exhausted(`${this.limits.connectionsMax} connections are open already`, '--max-connections')
  }

  /** An answer was handed over; to be taken back by {@link read}. Cuts off others when there is too much. */
  hold(bytes: number, cut: () => void): Unread {
    const unread: Unread = { bytes, since: this.#looks.count, cut, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = unread
    else this.#newest.newer = unread
    this.#newest = unread
    this.#unreadBytes += bytes
    if (this.#unreadBytes > this.limits.unreadBytesMax) this.#cutOldest()
    this.#looks.begin()
    return unread
  }

  /** The answer was sent, or its client has gone; a second call changes nothing. */
  read(unread: Unread): void {
    if (unread.cut === undefined) return
    const { older, newer } = unread
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    unread.older = undefined
    unread.newer = undefined
    unread.cut = undefined
    this.#unreadBytes -= unread.bytes
  }

  /** More bytes of a request. @throws RESOURCE_EXHAUSTED, and counts nothing, when there are too many */
  take(bytes: number): void {
    const { requestBytesMax } = this.limits
    if (this.#requestBytes + bytes > requestBytesMax) {
      throw exhausted(`requests under way have ${requestBytesMax} bytes in all already`, '--max-request-bytes')
    }
    this.#requestBytes += bytes
  }

  giveBack(bytes: number): void {
    this.#requestBytes -= bytes
  }

  close(): void {
    this.#looks.end()
  }

  #cutOldest(): void {
    while (this.#oldest !== undefined && this.#unreadBytes > this.limits.unreadBytesMax) this.#cut(this.#oldest)
  }

  #cut(unread: Unread): void {
    const { cut } = unread
    this.read(unread)
    cut?.()
  }

  /** The first look comes less than its time after the answer, so it does not count. */
  #sweep(): void {
    const last = this.#looks.count - 1 - this.#looks.of(this.limits.unreadMsMax)
    while (this.#oldest !== undefined && this.#oldest.since <= last) this.#cut(this.#oldest)
  }
}

function exhausted(found: string, flag: string): DatastoreError {
  return new DatastoreError(
    'RESOURCE_EXHAUSTED',
    `${found}; try again later, or start the server with a higher ${flag}`,
  )
}
