/**
 * Draws what comparison.ts has put together: charts with the lines of all arms (uPlot), heatmaps on one time axis and one
 * colour scale (a canvas each), and rows that fly from the log to the tables (SVG).
 */
/* global inWords, uPlot */
// biome-ignore lint/correctness/noUnusedVariables: page.js calls it.
const pictures = (() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  const armColour = (at) => colour(`--arm-${(at % 9) + 1}`)
  const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]]
  const dashOf = (line) => dashes[line.nameAt % dashes.length]

  const drawAll = (parent, { comparison }, make) => {
    for (const flows of comparison.flows) drawFlows(parent, flows, make)
    for (const heatmaps of comparison.heatmaps) drawHeatmaps(parent, heatmaps, make)
    if (comparison.charts.length === 0) return
    const grid = make('div', parent, undefined, 'charts')
    // All boxes first: their width depends on how many there are.
    const boxes = comparison.charts.map(() => make('div', grid))
    for (const [i, chart] of comparison.charts.entries()) drawChart(boxes[i], chart, make)
  }

  function svg(tag, parent, attributes, words) {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag)
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
    if (words !== undefined) node.textContent = words
    parent.append(node)
    return node
  }

  function drawChart(box, { title, unit, x, logarithmic, lines }, make) {
    make('h3', box, title === unit ? title : `${title} (${unit})`)
    drawLegend(box, lines, make)
    const axis = {
      stroke: colour('--soft'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line') },
    }
    // On a logarithmic axis there is no zero: what is zero is left out. Where another arm has an x the line goes on.
    const drawnValue = (value) => (value === 'apart' ? undefined : logarithmic && !(value > 0) ? null : value)
    new uPlot(
      {
        width: box.clientWidth,
        height: 240,
        legend: { show: false },
        cursor: { y: false },
        scales: {
          x: { time: false, ...(logarithmic ? { distr: 3 } : {}) },
          y: logarithmic
            ? { distr: 3 }
            : { range: (_u, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.05 || 1] },
        },
        axes: [
          { ...axis, label: x.name, labelSize: 18, values: (_u, marks) => marks.map(tickOf) },
          { ...axis, size: 64, values: (_u, marks) => marks.map(tickOf) },
        ],
        series: [
          { label: x.name },
          ...lines.map((line) => ({
            label: line.label,
            stroke: armColour(line.armAt),
            dash: dashOf(line),
            width: 2,
            points: { show: x.values.length < 40, size: 5 },
          })),
        ],
        hooks: { setCursor: [(plot) => tell(plot, box, { x, unit, lines })] },
      },
      [x.values, ...lines.map((line) => line.values.map(drawnValue))],
      box,
    )
    make('p', box, '', 'soft').setAttribute('aria-live', 'polite')
  }

  const tickOf = (mark) => (mark === null ? '' : inWords(mark))

  /** Under the chart: what each line has where the pointer is. */
  function tell({ cursor: { idx } }, box, { x, unit, lines }) {
    const line = box.querySelector('p')
    if (line === null) return
    const values = lines
      .filter(({ values }) => typeof values[idx] === 'number')
      .map(({ label, values }) => `${label} ${inWords(values[idx])}`)
    line.textContent = idx == null ? '' : `${x.name} ${inWords(x.values[idx])}: ${values.join('; ')} ${unit}`
  }

  function drawLegend(box, lines, make) {
    const list = make('ul', box, undefined, 'legend')
    for (const line of lines) {
      const item = make('li', list)
      const mark = svg('svg', item, { width: 26, height: 10, 'aria-hidden': 'true' })
      svg('line', mark, {
        x1: 0,
        x2: 26,
        y1: 5,
        y2: 5,
        stroke: armColour(line.armAt),
        'stroke-width': 3,
        'stroke-dasharray': dashOf(line).join(' '),
      })
      item.append(line.label)
    }
  }

  /** From black over purple and red to yellow. */
  const stops = [
    [12, 8, 38],
    [87, 16, 110],
    [188, 55, 84],
    [249, 142, 9],
    [252, 255, 164],
  ]
  const rgb = (stop) => `rgb(${stop.join(',')})`

  /** @param share - how far up the scale (heatShare) */
  function heatColour(share) {
    const place = Math.min(share, 0.9999) * (stops.length - 1)
    const [low, high] = [stops[Math.floor(place)], stops[Math.floor(place) + 1]]
    return rgb(low.map((one, i) => Math.round(one + (high[i] - one) * (place % 1))))
  }

  function drawHeatmaps(parent, compared, make) {
    const { title, unit, scale, maps } = compared
    make('h3', parent, `${title} (${unit})`)
    const legend = make('div', parent, undefined, 'scale')
    make('div', legend, undefined, 'bar').style.background = `linear-gradient(90deg, ${stops.map(rgb).join(', ')})`
    const marks = make('div', legend, undefined, 'marks')
    for (const { share, value } of scale) make('span', marks, inWords(value)).style.left = `${share * 100}%`
    const grid = make('div', parent, undefined, 'maps')
    const boxes = maps.map(() => make('div', grid, undefined, 'map'))
    for (const [i, map] of maps.entries()) drawHeatmap(boxes[i], map, compared, make)
  }

  function drawHeatmap(box, { arm, heatmap, shares }, { from, to, time }, make) {
    const { columns, rows, events } = heatmap
    make('h4', box, arm)
    const canvas = make('canvas', box)
    const [width, height, eventHeight, footHeight] = [box.clientWidth, 256, 12, 18]
    const left = Math.min(150, Math.round(width * 0.34))
    const pen = penOn(canvas, width, height + eventHeight + footHeight)
    const cellHeight = height / rows.length
    const xOf = (at) => left + ((at - from) / (to - from || 1)) * (width - left)
    const endOf = (c) => columns[c + 1] ?? columns[c] + (columns[1] - columns[0] || to - from)
    const stride = Math.ceil(13 / cellHeight)
    rows.forEach(({ label }, r) => {
      shares[r].forEach((share, c) => {
        pen.fillStyle = heatColour(share)
        const [start, end] = [xOf(columns[c]), xOf(endOf(c))]
        pen.fillRect(start, r * cellHeight, end - start + 0.5, cellHeight + 0.5)
      })
      if (r % stride !== 0) return
      pen.fillStyle = colour('--ink')
      pen.fillText(fitting(pen, label, left - 6), 0, r * cellHeight + Math.min(11, cellHeight))
    })
    pen.strokeStyle = colour('--arm-6')
    for (const { at } of events) {
      pen.beginPath()
      pen.moveTo(xOf(at), height + 2)
      pen.lineTo(xOf(at), height + eventHeight)
      pen.stroke()
    }
    pen.fillStyle = colour('--ink')
    for (const share of [0, 0.5, 1]) {
      const words = `${inWords(Math.round(from + (to - from) * share))} ${time}`
      const wide = pen.measureText(words).width
      pen.fillText(words, xOf(from + (to - from) * share) - wide * share, height + eventHeight + 13)
    }
    if (events.length > 0)
      make('p', box, `Marks below the map: splits, moves and refused splits (${events.length})`, 'soft')
    pointed(canvas, box, make, (x, y) => {
      const near = y > height ? nearest(events, xOf, x) : undefined
      if (near !== undefined) return `${inWords(near.at)} ${time} · ${near.words}`
      const c = columns.findIndex((at, i) => x >= xOf(at) && x < xOf(endOf(i)))
      const row = rows[Math.floor(y / cellHeight)]
      if (c < 0 || row === undefined) return undefined
      return `${row.label} · ${inWords(columns[c])} ${time} · ${inWords(row.values[c])}`
    })
  }

  function penOn(canvas, width, height) {
    const scale = window.devicePixelRatio || 1
    canvas.width = width * scale
    canvas.height = height * scale
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
    const pen = canvas.getContext('2d')
    pen.scale(scale, scale)
    pen.font = '11px ui-monospace, monospace'
    return pen
  }

  /** Keeps the end, where keys differ. */
  function fitting(pen, words, width) {
    let shown = words
    while (shown.length > 2 && pen.measureText(shown).width > width) shown = `…${shown.slice(2)}`
    return shown
  }

  function pointed(canvas, box, make, wordsAt) {
    const tip = make('div', box, undefined, 'tip')
    canvas.addEventListener('mousemove', ({ offsetX, offsetY }) => {
      const words = wordsAt(offsetX, offsetY)
      tip.style.display = words === undefined ? 'none' : 'block'
      if (words === undefined) return
      tip.textContent = words
      tip.style.left = `${Math.max(0, Math.min(offsetX + 12, box.clientWidth - tip.offsetWidth))}px`
      tip.style.top = `${canvas.offsetTop + offsetY + 14}px`
    })
    canvas.addEventListener('mouseleave', () => {
      tip.style.display = 'none'
    })
  }

  function nearest(events, xOf, x) {
    const distance = ({ at }) => Math.abs(xOf(at) - x)
    return events.filter((event) => distance(event) < 5).sort((a, b) => distance(a) - distance(b))[0]
  }

  function drawFlows(parent, { title, flows }, make) {
    make('h3', parent, title)
    const grid = make('div', parent, undefined, 'maps')
    for (const { arm, flow } of flows) {
      const box = make('div', grid, undefined, 'flow')
      make('h4', box, arm)
      drawFlow(box, flow, arm)
    }
  }

  const [lineHeight, squareSize] = [20, 12]

  /** Stages from top to bottom, an arrow between them; the rows of each table as squares behind its name. */
  function drawFlow(box, { stages }, arm) {
    const width = 380
    const picture = svg('svg', box, { role: 'img', 'aria-label': `${arm}: ${stages.map(stageInWords).join('; ')}` })
    let y = 0
    stages.forEach(({ name, tables, reads }, stage) => {
      if (stage > 0) {
        svg('path', picture, { class: 'way', d: `M 8 ${y - 6} v 16 m -4 -5 l 4 6 l 4 -6` })
        y += 14
      }
      y += lineHeight
      svg('text', picture, { class: 'stage', x: 0, y }, name)
      for (const { table, rows } of tables) {
        y += lineHeight
        svg('text', picture, { x: 18, y }, `${table}, ${rows} ${rows === 1 ? 'row' : 'rows'}`)
        for (let i = 0; i < rows; i++)
          svg('rect', picture, {
            class: 'row',
            style: `--stage: ${stage}; --place: ${i}`,
            ...{ x: 260 + i * (squareSize + 4), y: y - squareSize + 2, width: squareSize, height: squareSize },
          })
      }
      for (const { what, answer, isRight } of reads) {
        y += lineHeight
        const words = `${what}: ${answer}, ${isRight ? 'right' : 'wrong'}`
        svg('text', picture, { class: isRight ? 'right' : 'wrong', x: 18, y }, words)
      }
      y += 14
    })
    picture.setAttribute('viewBox', `0 0 ${width} ${y}`)
  }

  function stageInWords({ name, tables }) {
    return `${name}: ${tables.map(({ table, rows }) => `${rows} in ${table}`).join(', ')}`
  }

  return drawAll
})()
