/** Pictures as files, and the names of files. */
import { cssColour, scaleMarks } from '../../model/heat-scale.ts'
import { metricTitles, valueWords } from '../../model/heat-words.ts'
import { timeWords } from '../../model/numbers.ts'
import type { PictureInk } from './draw.ts'
import type { Heat } from './view.ts'

/** `heat-2026-11-22T10-05-09` */
export function fileName(ms: number): string {
  return `heat-${new Date(ms).toISOString().slice(0, 19).replaceAll(':', '-')}`
}

type Panel = Readonly<{ title: string; canvas: HTMLCanvasElement }>
type Scale = Pick<Heat, 'most' | 'metric'> & { readonly ink: PictureInk }

const headHeight = 28
const legendHeight = 44

export function pictureFile(
  panels: readonly Panel[],
  { most, metric, atMs, ink }: Scale & { readonly atMs: number },
): Promise<Blob> {
  const scale = devicePixelRatio
  const width = Math.max(...panels.map(({ canvas }) => canvas.width)) / scale
  const heights = panels.map(({ canvas }) => canvas.height / scale + headHeight)
  const whole = document.createElement('canvas')
  whole.width = Math.round(width * scale)
  whole.height = Math.round((heights.reduce((sum, height) => sum + height, 0) + legendHeight) * scale)
  const pen = whole.getContext('2d') as CanvasRenderingContext2D
  pen.scale(scale, scale)
  pen.fillStyle = ink.ground
  pen.fillRect(0, 0, whole.width, whole.height)
  pen.textBaseline = 'top'
  let y = 0
  for (const [i, { title, canvas }] of panels.entries()) {
    pen.fillStyle = ink.text
    pen.font = '600 14px system-ui, sans-serif'
    pen.fillText(title, 6, y + 7)
    pen.drawImage(canvas, 0, y + headHeight, canvas.width / scale, canvas.height / scale)
    y += heights[i] ?? 0
  }
  drawLegend(pen, { y: y + 6, most, metric, ink, words: `${metricTitles[metric]}, ${timeWords(atMs)}` })
  return new Promise((resolve, reject) => {
    whole.toBlob(
      (blob) => (blob === null ? reject(new Error('the browser made no picture')) : resolve(blob)),
      'image/png',
    )
  })
}

function drawLegend(
  pen: CanvasRenderingContext2D,
  { y, most, metric, ink, words }: Scale & { readonly y: number; readonly words: string },
): void {
  const [left, width] = [220, 320]
  for (let x = 0; x < width; x++) {
    pen.fillStyle = cssColour(x / width)
    pen.fillRect(left + x, y, 1, 12)
  }
  pen.fillStyle = ink.text
  pen.font = '11px system-ui, sans-serif'
  pen.fillText(words, 6, y)
  for (const { share, value } of scaleMarks(most)) {
    const mark = valueWords(value, metric)
    pen.fillText(mark, left + share * width - (share === 1 ? pen.measureText(mark).width : 0), y + 16)
  }
}
