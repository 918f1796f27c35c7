/** One picture: a table of one recording. Pointer and arrows tell of a cell in the same words, mark a part and come nearer to it. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { useWidth } from '../../components/hooks.ts'
import { themeEpoch } from '../../components/theme-colours.ts'
import type { Plane, Window } from '../../model/heat-plane.ts'
import { metricTitles, valueWords } from '../../model/heat-words.ts'
import { drawPicture, inkOf, xOf, yOf } from './draw.ts'
import {
  keyAction,
  modelOf,
  type PictureModel,
  type PictureProps,
  type Point,
  pointAt,
  rectOf,
  wordsAt,
} from './picture-model.ts'

const widthMin = 640

export function Picture(props: PictureProps) {
  const { recordings, source, table, metric, view, target } = props
  const onZoom = (window: Window | undefined): void => view.zoom(table, window, recordings.endOf(source))
  const box = useRef<HTMLDivElement>(null)
  const helpId = useId()
  const scroll = useRef<HTMLDivElement>(null)
  const model = modelOf(props, usePictureWidth(scroll))
  const canvas = useDrawing(props, model)
  const [cursor, setCursor] = useState<Point | undefined>(undefined)
  const [corner, setCorner] = useState<Point | undefined>(undefined)
  const { pointer, brush, onPointer } = usePointer(model, onZoom)
  useEffect(() => {
    if (target === undefined) return
    setCursor({ ms: target.ms, row: model.axis.rowOfHex(target.hex) })
    box.current?.focus()
  }, [target])
  const onKey = (event: KeyboardEvent): void => {
    const done = keyAction(event, model, { cursor, corner })
    if (done === undefined) return
    event.preventDefault()
    if (done.zoom !== undefined) onZoom(done.zoom === 'all' ? undefined : done.zoom)
    setCursor(done.cursor)
    setCorner(done.corner)
  }
  const words = (point: Point): string => wordsAt(point, props, model)
  const marked = brush ?? (cursor === undefined || corner === undefined ? undefined : rectOf(corner, cursor))
  return (
    <figure class="heat-picture mb-3">
      <Caption {...props} plane={model.plane} />
      <div ref={scroll} class="heat-scroll" style={{ overflow: 'auto hidden' }}>
        <div
          ref={box}
          class="heat-box relative"
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the role application takes the keyboard.
          tabIndex={0}
          aria-label={`Heat of ${table}, ${source.name}`}
          aria-describedby={helpId}
          style={{ minWidth: `${widthMin}px`, height: `${model.layout.height}px` }}
          onKeyDown={onKey}
          onPointerDown={onPointer}
          onPointerMove={onPointer}
          onPointerUp={onPointer}
          onPointerLeave={onPointer}
          onDblClick={() => onZoom(undefined)}
        >
          <canvas ref={canvas} class="block whole" style={{ height: '100%' }} />
          <Overlay {...{ ...props, model, cursor, marked, pointer, words }} />
        </div>
      </div>
      <p class="visually-hidden" id={helpId}>
        Arrows move by a cell, with Shift they mark a part, Enter shows it larger, plus and minus zoom, 0 shows all
        again, Page Up and Page Down go by ten cells, Home and End go to the oldest and newest time.
      </p>
      <p role="status" class="heat-readout m-0 mt-1 small breaks muted" style={{ minHeight: '1.5em' }}>
        {cursor === undefined ? '' : `${metricTitles[metric]}: ${words(cursor)}`}
      </p>
    </figure>
  )
}

function Caption({ table, source, metric, plane }: PictureProps & { readonly plane: Plane }) {
  return (
    <figcaption class="wrap small items-baseline mb-1">
      <h2>
        {table} <span class="muted">{source.name}</span>
      </h2>
      <span class="muted light">
        {metricTitles[metric]}: at most {valueWords(plane.most, metric)} in one key range; {plane.rows} key ranges
      </span>
    </figcaption>
  )
}

/** Draws in the next frame, when anything of it changed. */
function useDrawing(props: PictureProps, model: PictureModel): { readonly current: HTMLCanvasElement | null } {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { most, hasBorders } = props
  const { layout, plane, axis, window, spans, marks } = model
  const theme = themeEpoch.value
  useLayoutEffect(() => {
    const element = canvas.current
    if (element === null) return
    const frame = requestAnimationFrame(() => {
      const scale = devicePixelRatio
      const [wide, high] = [Math.round(layout.width * scale), Math.round(layout.height * scale)]
      if (element.width !== wide) element.width = wide
      if (element.height !== high) element.height = high
      const pen = element.getContext('2d', { alpha: false })
      if (pen === null) return
      pen.setTransform(scale, 0, 0, scale, 0, 0)
      const borders = hasBorders ? spans : []
      drawPicture(pen, { layout, plane, axis, window, most, marks, spans: borders, ink: inkOf(element) })
    })
    return () => cancelAnimationFrame(frame)
  }, [plane, axis.version, most, layout.width, layout.height, theme, hasBorders, spans, JSON.stringify(window)])
  return canvas
}

function usePointer(model: PictureModel, onZoom: (window: Window) => void) {
  const { layout, window } = model
  const [pointer, setPointer] = useState<{ readonly x: number; readonly y: number } | undefined>(undefined)
  const [from, setFrom] = useState<Point | undefined>(undefined)
  const onPointer = (event: PointerEvent): void => {
    const element = event.currentTarget as HTMLElement
    const { left, top } = element.getBoundingClientRect()
    const [x, y] = [event.clientX - left, event.clientY - top]
    const isInside = x >= layout.left && x <= layout.left + layout.plotWidth && y >= 0 && y < layout.plotHeight
    if (event.type === 'pointerdown' && isInside && event.button === 0 && event.pointerType === 'mouse') {
      setFrom(pointAt(x, y, model))
      element.setPointerCapture(event.pointerId)
    } else if (event.type === 'pointerup' && from !== undefined) {
      const rect = rectOf(from, pointAt(x, y, model))
      setFrom(undefined)
      if (xOf(layout, window, rect.toMs) - xOf(layout, window, rect.fromMs) > 6) onZoom(rect)
    }
    setPointer(event.type !== 'pointerleave' && (isInside || from !== undefined) ? { x, y } : undefined)
  }
  const brush =
    from === undefined || pointer === undefined ? undefined : rectOf(from, pointAt(pointer.x, pointer.y, model))
  return { pointer, brush, onPointer }
}

/** Where the picture is wider than its box, now is seen first. */
function usePictureWidth(scroll: { readonly current: HTMLDivElement | null }): number {
  const width = Math.max(widthMin, useWidth(scroll, widthMin))
  useLayoutEffect(() => scroll.current?.scrollTo({ left: width }), [width])
  return width
}

type Style = Readonly<Record<string, string>>

interface OverlayProps extends PictureProps, Pick<ReturnType<typeof usePointer>, 'pointer'> {
  readonly model: PictureModel
  readonly cursor: Point | undefined
  readonly marked: Window | undefined
  readonly words: (point: Point) => string
}

/** Parts that move with cursor and pointer, and the pins of findings: elements over the canvas. */
function Overlay({ source, table, onFinding, model, cursor, marked, pointer, words }: OverlayProps) {
  const { layout, window, axis } = model
  const cellMs = (window.toMs - window.fromMs) / layout.plotWidth
  return (
    <>
      {cursor !== undefined && (
        <div
          class="heat-cursor absolute ghost"
          style={boxOf(
            { fromMs: cursor.ms, toMs: cursor.ms + cellMs, fromRow: cursor.row, toRow: cursor.row + 1 },
            model,
          )}
        />
      )}
      {marked !== undefined && <div class="heat-brush absolute ghost" style={boxOf(marked, model)} />}
      {/* Findings of this table at their rows, at the right edge. */}
      {source.recording.findings.map(({ place, subject, kind, words }, i) => {
        if (place?.table !== table) return null
        const y = yOf(layout, window, axis.rowOfHex(place.startHex) + 0.5)
        if (y < 0 || y > layout.plotHeight) return null
        const name = `${kind} ${subject}`
        return (
          <Button
            label={i + 1}
            key={name}
            class="heat-pin small strong absolute"
            title={words}
            aria-label={`Finding ${i + 1}: ${words}`}
            style={{ top: `${y}px`, left: `${layout.left + layout.plotWidth}px` }}
            onClick={() => onFinding(name)}
            onPointerDown={(event) => event.stopPropagation()}
          />
        )
      })}
      {pointer !== undefined && (
        <div
          class="heat-tip tip box absolute ghost shadow small breaks"
          aria-hidden="true"
          style={{
            ...(pointer.x > layout.width / 2
              ? { right: `${layout.width - pointer.x + 12}px` }
              : { left: `${pointer.x + 12}px` }),
            ...(pointer.y > layout.height / 2
              ? { bottom: `${layout.height - pointer.y + 12}px` }
              : { top: `${pointer.y + 12}px` }),
          }}
        >
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
