/** Begins the console's program once its calls are answered: by the emulator of the page around it, or by one of its own. */
import { openTab } from './tab.ts'

const script = document.querySelector<HTMLScriptElement>('script[data-main]')
const base = new URL('./', import.meta.url)
const { worker = '', main = '' } = script?.dataset ?? {}

openTab(base, worker)
await import(new URL(main, base).href)
