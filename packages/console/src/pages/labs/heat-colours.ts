/** The colours of heat in the labs: from black over purple and red to yellow, as on the labs' pages. */
const stops: readonly (readonly [number, number, number])[] = [
  [12, 8, 38],
  [87, 16, 110],
  [188, 55, 84],
  [249, 142, 9],
  [252, 255, 164],
]

const rgb = (stop: readonly number[]): string => `rgb(${stop.join(', ')})`

/** @param share - place on the scale, 0 to 1 */
export function heatColour(share: number): string {
  const place = Math.min(Math.max(share, 0), 0.9999) * (stops.length - 1)
  const [low = [], high = []] = [stops[Math.floor(place)], stops[Math.floor(place) + 1]]
  return rgb(low.map((one, i) => Math.round(one + ((high[i] ?? one) - one) * (place % 1))))
}

/** The whole scale, for a legend. */
export const heatGradient: string = `linear-gradient(90deg, ${stops.map(rgb).join(', ')})`
