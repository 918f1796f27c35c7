/** The view that the address names now, as a signal. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { type Route, readAddress } from '../model/route.ts'

const current = signal(readAddress(location.hash))
addEventListener('hashchange', () => {
  current.value = readAddress(location.hash)
})

export const route: ReadonlySignal<Route> = current
