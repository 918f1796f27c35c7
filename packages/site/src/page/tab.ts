/**
 * The emulator of this tab: its worker, a port for this page, and one for the relay, which answers `fetch('/v1/…')` from it.
 *
 * Without a service worker, such as in a private window, {@link openTab} still gives the page its own port; only `fetch` finds no emulator then.
 */
import { PortClient } from '../port-client.ts'

declare global {
  /** Set in a page with an emulator, for frames in it: they share the emulator. */
  interface Window {
    newEmulatorPort?: () => MessagePort
  }
}

export interface Tab {
  /** The page's own way to the emulator. */
  readonly port: PortClient
  /** Whether `fetch` finds the emulator, once that is known. */
  readonly relayed: Promise<boolean>
}

/** Opens the emulator of the page around this one, or begins one. @param base - the folder of the site */
export function openTab(base: URL, workerFile: string): Tab {
  const newPort = portsOfParent() ?? beginEmulator(new URL(workerFile, base))
  window.newEmulatorPort = newPort
  return { port: new PortClient(newPort()), relayed: relay(base, newPort) }
}

/** `undefined` without a page around this one, and within one of another origin. */
function portsOfParent(): Window['newEmulatorPort'] {
  try {
    return window.parent.newEmulatorPort
  } catch {
    return undefined
  }
}

function beginEmulator(url: URL): () => MessagePort {
  const worker = new Worker(url, { type: 'module' })
  return () => {
    const { port1, port2 } = new MessageChannel()
    worker.postMessage({ port: port1 }, [port1])
    return port2
  }
}

async function relay(base: URL, newPort: () => MessagePort): Promise<boolean> {
  const { serviceWorker } = navigator
  if (serviceWorker === undefined) return false
  const lend = (): void => {
    const port = newPort()
    serviceWorker.controller?.postMessage('port', [port])
  }
  serviceWorker.addEventListener('message', lend)
  try {
    const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve))
    await serviceWorker.register(new URL('relay.js', base), { scope: base.pathname })
    if (serviceWorker.controller === null) {
      // A reload that bypasses service workers leaves the page without one that is active already.
      const { active } = await serviceWorker.ready
      active?.postMessage('claim')
      await controlled
    }
    lend()
    return true
  } catch {
    return false
  }
}
