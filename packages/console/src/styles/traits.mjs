/**
 * Traits: classes of one declaration each, behind all other rules, so that the markup of an element has the last word on its looks.
 *
 *   <ul class="px-2 small">     ─▶     .px-2 { padding-inline: var(--gap-2) }     .small { font-size: var(--size-small) }
 *
 * A number is that of a gap in 1-tokens.css; 0 is none.
 */
const words = {
  text: 'color: var(--text)',
  muted: 'color: var(--text-2)',
  accent: 'color: var(--accent)',
  'good-text': 'color: var(--good)',
  'bad-text': 'color: var(--bad)',
  ground: 'background: var(--ground)',
  shade: 'background: var(--ground-2)',
  tiny: 'font-size: 11px',
  small: 'font-size: var(--size-small)',
  'lab-question': 'font-size: 16px',
  large: 'font-size: min(22px, 5vw)',
  light: 'font-weight: 400',
  strong: 'font-weight: 600',
  'no-underline': 'text-decoration: none',
  'is-deleted': 'text-decoration: line-through',
  breaks: 'overflow-wrap: anywhere',
  nowrap: 'white-space: nowrap',
  clip: 'overflow: hidden',
  scrolls: 'overflow: auto',
  sideways: 'overflow-x: auto',
  block: 'display: block',
  'inline-block': 'display: inline-block',
  'inline-flex': 'display: inline-flex',
  absolute: 'position: absolute',
  relative: 'position: relative',
  shadow: 'box-shadow: var(--shadow)',
  ghost: 'pointer-events: none',
  whole: 'width: 100%',
  grow: 'flex: 1',
  rigid: 'flex: none',
  spread: 'justify-content: space-between',
  'flex-wrap': 'flex-wrap: wrap',
  'ml-auto': 'margin-left: auto',
  'mr-auto': 'margin-right: auto',
  'items-start': 'align-items: start',
  'items-baseline': 'align-items: baseline',
  'items-end': 'align-items: end',
  'justify-start': 'justify-items: start',
  halves: '--column-widths: repeat(2, minmax(0, 1fr))',
  lined: 'border: 1px solid var(--line)',
  'line-above': 'border-top: 1px solid var(--line)',
  'line-below': 'border-bottom: 1px solid var(--line)',
}

const steps = {
  gap: 'gap',
  m: 'margin',
  my: 'margin-block',
  mt: 'margin-top',
  mb: 'margin-bottom',
  ml: 'margin-left',
  mr: 'margin-right',
  p: 'padding',
  pt: 'padding-top',
  px: 'padding-inline',
  py: 'padding-block',
}

const inSteps = Object.entries(steps).flatMap(([name, property]) =>
  [0, 1, 2, 3, 4, 5].map((step) => [`${name}-${step}`, `${property}: ${step === 0 ? 0 : `var(--gap-${step})`}`]),
)

/** One of the six hues of series. */
const hues = [1, 2, 3, 4, 5, 6].map((hue) => [`hue-${hue}`, `--hue: var(--series-${hue})`])

/** As many columns as have room for so many pixels. */
const fills = [360, 400, 420].map((least) => [
  `fill-${least}`,
  `grid-template-columns: repeat(auto-fill, minmax(min(100%, ${least}px), 1fr))`,
])

export const traits = [...inSteps, ...hues, ...fills, ...Object.entries(words)]
  .map(([name, declaration]) => `.${name} { ${declaration} }`)
  .join('\n')
