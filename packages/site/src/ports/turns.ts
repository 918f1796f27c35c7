/** `setImmediate` for a browser: a turn of the event loop behind those that wait, without the 4 ms that timers may take. */
const channel = new MessageChannel()
const waiting: (() => void)[] = []
channel.port1.onmessage = () => waiting.shift()?.()

export function setImmediate(task: () => void): void {
  waiting.push(task)
  channel.port2.postMessage(0)
}
