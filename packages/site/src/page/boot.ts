/** Begins the console's program once its calls can be answered: with an emulator of its own in this tab. */
import { openTab } from './tab.ts'

const script = document.querySelector<HTMLScriptElement>('script[data-main]')
const base = new URL('./', import.meta.url)
const { worker = '', main = '' } = script?.dataset ?? {}

if (await openTab(base, worker).relayed) await import(new URL(main, base).href)
else
  document.body.textContent =
    'The console needs a service worker, which this window does not allow: a private window, or http without localhost.'
