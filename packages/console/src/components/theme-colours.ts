/** Colours of the tokens as a canvas needs them, and a number that changes with the theme, on which they depend. */
import { signal } from '@preact/signals'

export const themeEpoch = signal(0)

const changed = (): void => {
  themeEpoch.value++
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed)
new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ['style'] })

/** The colour of a token such as `--series-1`, where `element` stands. */
export function colourOf(token: string, element: HTMLElement): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  probe.hidden = true
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** A key cut to a width on a canvas; its end stays, where keys differ. */
export function fitting(pen: CanvasRenderingContext2D, words: string, width: number): string {
  let shown = words
  while (shown.length > 1 && pen.measureText(shown).width > width) shown = `…${shown.slice(2)}`
  return shown
}
