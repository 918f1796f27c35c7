/**
 * The measurements of an arm, as plain data that a terminal, a JSON file and a page can all draw.
 *
 *   figure    one number with its unit                    `committed a second`, 4.8
 *   text      lines to read                               rows, a request, a table of answers
 *   chart     lines over one axis of x values             latency over time, throughput against clients
 *   heatmap   key ranges × time, with events              where the load is
 *   flow      rows that appear stage by stage             a put on its way from the log to the tables
 *
 * Numbers are rounded to six significant digits when they are recorded, so that an expectation compares the printed number.
 */

export interface Figure {
  readonly name: string
  readonly unit: string
  readonly value: number
}

export interface TextBlock {
  readonly title: string
  readonly lines: readonly string[]
}

export interface Line {
  readonly name: string
  /** A value for each x; `null` where nothing was measured. */
  readonly values: readonly (number | null)[]
}

export interface Chart {
  readonly title: string
  readonly unit: string
  readonly x: { readonly name: string; readonly values: readonly number[] }
  /** Whether both axes are logarithmic. */
  readonly logarithmic: boolean
  readonly lines: readonly Line[]
}

export interface Heatmap {
  readonly title: string
  readonly unit: string
  readonly time: 'minutes' | 'seconds'
  /** Start of each column, in this unit since the start of the run. */
  readonly columns: readonly number[]
  /** In key order. */
  readonly rows: readonly { readonly label: string; readonly values: readonly number[] }[]
  readonly events: readonly { readonly at: number; readonly words: string }[]
}

export interface Flow {
  readonly title: string
  readonly stages: readonly FlowStage[]
}

export interface FlowStage {
  readonly name: string
  /** Number of rows that appear at this stage. */
  readonly tables: readonly { readonly table: string; readonly rows: number }[]
  /** The outcomes of reads at that stage. */
  readonly reads: readonly { readonly what: string; readonly answer: string; readonly isRight: boolean }[]
}

export interface ArmResult {
  readonly name: string
  readonly about: string
  readonly figures: readonly Figure[]
  readonly texts: readonly TextBlock[]
  readonly charts: readonly Chart[]
  readonly heatmaps: readonly Heatmap[]
  readonly flows: readonly Flow[]
}

const writers = ['1 writer', 'all writers']

export class Recorder {
  readonly figures: Figure[] = []
  readonly texts: TextBlock[] = []
  readonly charts: Chart[] = []
  readonly heatmaps: Heatmap[] = []
  readonly flows: Flow[] = []

  /** @param value - a boolean is recorded as 1 or 0 */
  figure(name: string, value: number | boolean, unit = ''): void {
    if (this.figures.some((figure) => figure.name === name)) throw new Error(`the figure ${name} is recorded twice`)
    const number = Number(value)
    if (!Number.isFinite(number)) throw new Unmeasured(`with these settings there is nothing to measure for "${name}"`)
    this.figures.push({ name, unit, value: rounded(number) })
  }

  /** A figure at the first and at the last of several levels, such as numbers of writers. */
  ends(name: string, [first, last]: readonly [number, number], unit: string, at: readonly string[] = writers): void {
    this.figure(`${name}, ${at[0]}`, first, unit)
    this.figure(`${name}, ${at[1]}`, last, unit)
  }

  text(title: string, lines: readonly string[]): void {
    this.texts.push({ title, lines })
  }

  /** @param lines - values by the name of their line, one for each x */
  chart(
    title: string,
    unit: string,
    { name, values }: Chart['x'],
    lines: Readonly<Record<string, Line['values']>>,
    logarithmic = false,
  ): void {
    const drawn = Object.entries(lines).map(([line, own]) => {
      return { name: line, values: own.map((value) => (value === null ? null : rounded(value))) }
    })
    this.charts.push({ title, unit, x: { name, values: values.map(rounded) }, logarithmic, lines: drawn })
  }

  heatmap(heatmap: Heatmap): void {
    this.heatmaps.push({
      ...heatmap,
      columns: heatmap.columns.map(rounded),
      rows: heatmap.rows.map(({ label, values }) => ({ label, values: values.map(rounded) })),
    })
  }

  flow(flow: Flow): void {
    this.flows.push(flow)
  }

  result(name: string, about: string): ArmResult {
    return { name, about, ...this }
  }
}

/** An arm without anything to measure, such as a load that is shorter than the pause between two sweeps. */
export class Unmeasured extends Error {
  override readonly name = 'Unmeasured'
}

/** Six significant digits. @throws Unmeasured for a mean or a maximum of nothing */
function rounded(value: number): number {
  if (!Number.isFinite(value)) throw new Unmeasured('with these settings there is nothing to measure')
  return Number(value.toPrecision(6))
}
