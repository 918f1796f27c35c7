/** The worker of a learner's program, in place of the process that the command line starts (bench/src/challenges/program-host.ts). */

/* global programFile */

/** @param options - with the text of the program as its path. @param listener - HostListener there. @returns a Host */
export function startHost({ path: text, seed, nowMs }, listener) {
  // The build gives the name of program.js.
  const worker = new Worker(new URL(programFile, import.meta.url), { type: 'module' })
  worker.onmessage = ({ data: { batch, printed, ended } }) => {
    if (printed !== undefined) listener.onPrinted(printed)
    else if (ended !== undefined) listener.onEnd(ended)
    else listener.onMessage(batch)
  }
  worker.onerror = ({ message }) => listener.onEnd(`ended with ${message}`)
  worker.postMessage({ text, seed, now: Number(nowMs) })
  return { send: (batch) => worker.postMessage({ batch }), kill: () => worker.terminate() }
}
