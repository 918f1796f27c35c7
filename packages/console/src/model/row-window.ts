/**
 * The rows of a long list that a viewport shows, and where they lie.
 *
 *   content   height of all rows, at most `contentMax`: browsers have a largest element
 *   scrollTop of the content  ─▶  place in the list, stretched where the content is shorter than the list
 *
 * RW1  The rows of a window cover the viewport, for any list and any scroll position.              row-window.test.ts
 * RW2  After scrolling to a row, it is in the window.                                              row-window.test.ts
 */

/** Pixels. Firefox ends at 17.9 million. */
const contentMax = 12_000_000

interface Viewport {
  readonly count: number
  /** Pixels, all three. */
  readonly rowHeight: number
  readonly height: number
  readonly scrollTop: number
}

/**
 * The indexes of the first and the last row in sight, of which the last is below the first in an empty list; and in pixels the place of the
 * first one, `top`, and the height of the content.
 */
export function rowWindow(viewport: Viewport) {
  const { count, rowHeight, height, scrollTop } = viewport
  const { contentHeight, stretch } = contentOf(viewport)
  const place = Math.max(0, Math.min(scrollTop * stretch, count * rowHeight - height))
  const first = Math.floor(place / rowHeight)
  const last = Math.min(count - 1, Math.ceil((place + height) / rowHeight) - 1)
  const shown = Math.max(0, Math.min(scrollTop, contentHeight - height))
  return { first, last, top: shown - (place - first * rowHeight), contentHeight }
}

/** The scroll position that shows a row: the present one if the row is wholly in sight. */
export function scrollTopFor(index: number, viewport: Viewport): number {
  const { rowHeight, height, scrollTop } = viewport
  const { stretch } = contentOf(viewport)
  const [begin, end] = [index * rowHeight, (index + 1) * rowHeight]
  const place = scrollTop * stretch
  if (begin < place) return begin / stretch
  return end > place + height ? Math.max(0, end - height) / stretch : scrollTop
}

function contentOf({ count, rowHeight, height }: Viewport): { contentHeight: number; stretch: number } {
  const whole = count * rowHeight
  if (whole <= contentMax) return { contentHeight: whole, stretch: 1 }
  return { contentHeight: contentMax, stretch: (whole - height) / (contentMax - height) }
}
