/** Parts of a picture that move with cursor and pointer, and the pins of findings: elements over the canvas. */
import { Button } from '../../components/controls.tsx'
import type { Window } from '../../model/heat-plane.ts'
import { type Layout, xOf, yOf } from './draw.ts'
import { type PictureModel, type PictureProps, type Point, pointAt } from './picture-model.ts'

type Style = Readonly<Record<string, string>>

export interface OverlayProps {
  readonly props: PictureProps
  readonly model: PictureModel
  readonly cursor: Point | undefined
  readonly marked: Window | undefined
  readonly pointer: { readonly x: number; readonly y: number } | undefined
  readonly words: (point: Point) => string
}

export function Overlay({ props, model, cursor, marked, pointer, words }: OverlayProps) {
  const { layout, window } = model
  const cellMs = (window.toMs - window.fromMs) / layout.plotWidth
  return (
    <>
      {cursor !== undefined && (
        <div
          class="heat-cursor"
          style={boxOf(
            { fromMs: cursor.ms, toMs: cursor.ms + cellMs, fromRow: cursor.row, toRow: cursor.row + 1 },
            model,
          )}
        />
      )}
      {marked !== undefined && <div class="heat-brush" style={boxOf(marked, model)} />}
      <Pins {...{ props, model }} />
      {pointer !== undefined && (
        <div class="heat-tip tip" aria-hidden="true" style={tipPlace(pointer, layout)}>
          {words(pointAt(pointer.x, pointer.y, model))}
        </div>
      )}
    </>
  )
}

function boxOf(rect: Window, { layout, window }: PictureModel): Style {
  const [x0, x1] = [xOf(layout, window, rect.fromMs), xOf(layout, window, rect.toMs)]
  const [y0, y1] = [yOf(layout, window, rect.fromRow), yOf(layout, window, rect.toRow)]
  return { left: `${x0}px`, top: `${y0}px`, width: `${Math.max(2, x1 - x0)}px`, height: `${Math.max(2, y1 - y0)}px` }
}

/** Findings of this table at their rows, as buttons at the right edge. */
function Pins({ props, model }: Pick<OverlayProps, 'props' | 'model'>) {
  const { source, table, onFinding } = props
  const { layout, window, axis } = model
  return (
    <>
      {source.recording.findings.map(({ place, subject, kind, words }, i) => {
        if (place?.table !== table) return null
        const y = yOf(layout, window, axis.rowOfHex(place.startHex) + 0.5)
        if (y < 0 || y > layout.plotHeight) return null
        const name = `${kind} ${subject}`
        return (
          <Button
            label={i + 1}
            key={name}
            class="heat-pin"
            title={words}
            aria-label={`Finding ${i + 1}: ${words}`}
            style={{ top: `${y}px`, left: `${layout.left + layout.plotWidth}px` }}
            onClick={() => onFinding(name)}
            onPointerDown={(event) => event.stopPropagation()}
          />
        )
      })}
    </>
  )
}

/** Beside the pointer, on the side with more room. */
function tipPlace({ x, y }: { readonly x: number; readonly y: number }, { width, height }: Layout): Style {
  return {
    ...(x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` }),
    ...(y > height / 2 ? { bottom: `${height - y + 12}px` } : { top: `${y + 12}px` }),
  }
}
