/** Row keys as a pane shows them: without the name of the table, and without the place that the page is limited to. */

export interface Place {
  readonly project?: string | undefined
  readonly database?: string | undefined
  readonly namespace?: string | undefined
}

/** `ToDo, done=false, ToDo:1`, of `EntitiesByPropertyAsc(demo, ToDo, done=false, ToDo:1)` */
export function shortRow(row: string, { project, database, namespace }: Place): string {
  let text = row.replace(/^\w+\(/, '').replace(/\)$/, '')
  const places = [project, database ? `db=${database}` : undefined, namespace ? `ns=${namespace}` : undefined]
  for (const place of places)
    if (place !== undefined && text.startsWith(`${place}, `)) text = text.slice(place.length + 2)
  return text
}

/** The properties of an entity come first; its version, which is long, behind them. */
export function valueText(value: string): string {
  return value.replace(/^(version \d+), (.*)$/s, '$2, $1')
}
