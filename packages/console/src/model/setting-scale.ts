/** The slider of a setting, whose places are from 0 to 100: the lab's own value is in the middle, however far apart the bounds are. */
interface ScaledSetting {
  readonly value: number
  readonly least: number
  readonly most: number
}

/** Values are `least` + (`most` - `least`) · (place / 100) to this power. */
function powerOf({ value, least, most }: ScaledSetting): number {
  const share = (value - least) / (most - least)
  return share > 0 && share < 1 ? Math.log(share) / Math.log(0.5) : 1
}

export function placeOf(setting: ScaledSetting, value: number): number {
  const { least, most } = setting
  const share = Math.min(1, Math.max(0, (value - least) / (most - least || 1)))
  return Math.round(100 * share ** (1 / powerOf(setting)))
}

/** With two significant digits, and whole where the lab's own value and its bounds are. */
export function valueAt(setting: ScaledSetting, place: number): number {
  const { value, least, most } = setting
  if (place === 50 && powerOf(setting) !== 1) return value
  const exact = least + (most - least) * (place / 100) ** powerOf(setting)
  const isWhole = [value, least, most].every(Number.isInteger) && most - least > 1
  const rounded = place === 100 ? most : Number(exact.toPrecision(2))
  return Math.max(least, isWhole ? Math.round(rounded) : rounded)
}
