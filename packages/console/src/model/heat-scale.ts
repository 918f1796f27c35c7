/**
 * The colour scale of heat, that of the labs' pages: from black over purple and red to yellow, by the square root, so that weak load is
 * seen beside strong. Lightness rises evenly, so it reads without colour too.
 */
const stops: readonly (readonly [number, number, number])[] = [
  [12, 8, 38],
  [87, 16, 110],
  [188, 55, 84],
  [249, 142, 9],
  [252, 255, 164],
]

/** The place of a value on the scale, 0 to 1. */
export function heatShare(value: number, most: number): number {
  return most <= 0 ? 0 : Math.min(1, Math.sqrt(Math.max(0, value) / most))
}

export function heatColour(share: number): readonly [number, number, number] {
  const place = Math.min(Math.max(share, 0), 0.9999) * (stops.length - 1)
  const [low, high] = [stops[Math.floor(place)], stops[Math.floor(place) + 1]]
  if (low === undefined || high === undefined) return [0, 0, 0]
  const mixed = low.map((one, i) => Math.round(one + ((high[i] as number) - one) * (place % 1)))
  return mixed as unknown as readonly [number, number, number]
}

export const cssColour = (share: number): string => `rgb(${heatColour(share).join(' ')})`

export const heatGradient: string = `linear-gradient(90deg, ${stops.map((stop) => `rgb(${stop.join(' ')})`).join(', ')})`

const colourSteps = 256

/** Colours of the scale as a canvas has them in memory (little-endian RGBA). */
export const colourTable: Uint32Array = Uint32Array.from({ length: colourSteps }, (_, i) => {
  const [red, green, blue] = heatColour(i / (colourSteps - 1))
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
})

/** The next of 1, 1.5, 2, 3, 4, 6, 8, 10, 15, …: a scale that a little more load does not change. */
export function roundMost(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  // A sum of fractions may be a little above what it stands for.
  const times = [1, 1.5, 2, 3, 4, 6, 8, 10].find((one) => one * power >= value * 0.999) ?? 10
  return times * power
}

/** Values to write at a scale, with their places on it. */
export function scaleMarks(most: number): readonly { readonly share: number; readonly value: number }[] {
  return [0, 0.1, 0.4, 1].map((part) => ({ share: heatShare(part * most, most), value: part * most }))
}

/** Pixels as colours; what has no column stays clear. */
export function colourPixels(pixels: Float32Array, most: number, colours: Uint32Array): void {
  for (let i = 0; i < pixels.length; i++) {
    const value = pixels[i] as number
    colours[i] = value < 0 ? 0 : (colourTable[Math.round(heatShare(value, most) * (colourSteps - 1))] as number)
  }
}
