/**
 * Draws the results that the page carries: verdicts, figures, texts, charts (uPlot) and heatmaps (a canvas; the axes are
 * plain text). Runs in a browser, as it is; it is no module of the package.
 */
/* global uPlot */
;(() => {
  const results = JSON.parse(document.getElementById('results').textContent)
  const main = document.querySelector('main')
  const colours = ['#2f7ed8', '#e4572e', '#2a9d5c', '#8e5bd0', '#c99a1b', '#3ba7b5', '#d0508f', '#777']

  const make = (tag, parent, words, className) => {
    const node = document.createElement(tag)
    if (words !== undefined) node.textContent = words
    if (className !== undefined) node.className = className
    parent.append(node)
    return node
  }
  const inWords = (value) =>
    value === undefined || value === null
      ? ''
      : value.toLocaleString('en-US', Number.isInteger(value) ? {} : { maximumSignificantDigits: 3 })

  for (const result of results) {
    make('h1', main, `${result.lab}: ${result.title}`)
    make('p', main, `seed ${result.seed}; ${result.passed ? 'passed' : 'FAILED'}`, 'soft')
    make('p', main, result.question)
    make('p', main, result.idea, 'soft')
    drawVerdicts(result.expectations)
    drawFigures(result.arms)
    for (const arm of result.arms) drawArm(arm)
    drawSettings(result.settings)
  }

  function drawVerdicts(expectations) {
    const list = make('ul', main, undefined, 'verdicts')
    for (const { verdict, says, found } of expectations) {
      const item = make('li', list, undefined, verdict)
      make('b', item, verdict === 'fails' ? 'FAILS' : verdict)
      item.append(`${says} `)
      make('span', item, `(${found})`, 'soft')
    }
  }

  function drawFigures(arms) {
    const names = [...new Map(arms.flatMap((arm) => arm.figures.map((one) => [one.name, one.unit])))]
    const table = make('table', make('div', main, undefined, 'scroll'))
    const head = make('tr', table)
    make('th', head, '')
    for (const arm of arms) make('th', head, arm.name)
    for (const [name, unit] of names) {
      const row = make('tr', table)
      make('td', row, unit === '' ? name : `${name} (${unit})`)
      for (const arm of arms) make('td', row, inWords(arm.figures.find((one) => one.name === name)?.value))
    }
  }

  function drawArm(arm) {
    if (arm.texts.length + arm.charts.length + arm.heatmaps.length === 0) return
    make('h2', main, arm.name)
    make('p', main, arm.about, 'soft')
    for (const heatmap of arm.heatmaps) drawHeatmap(heatmap)
    const charts = make('div', main, undefined, 'pair')
    for (const chart of arm.charts) drawChart(chart, charts)
    for (const { title, lines } of arm.texts) {
      make('h3', main, title)
      make('pre', main, lines.join('\n'))
    }
  }

  function drawChart({ title, unit, x, logarithmic, lines }, parent) {
    const box = make('div', parent)
    make('h3', box, `${title} (${unit})`)
    const width = Math.min(520, Math.max(300, box.clientWidth - 12))
    const ink = getComputedStyle(document.body).color
    const axis = { stroke: ink, grid: { stroke: '#8883' }, ticks: { stroke: '#8883' } }
    // On a logarithmic axis there is no zero: what is zero is left out.
    const values = lines.map((line) => (logarithmic ? line.values.map((one) => (one > 0 ? one : null)) : line.values))
    new uPlot(
      {
        width,
        height: 230,
        scales: {
          x: { time: false, ...(logarithmic ? { distr: 3 } : {}) },
          y: logarithmic
            ? { distr: 3 }
            : { range: (_u, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.05 || 1] },
        },
        axes: [
          { ...axis, label: x.name, labelSize: 18 },
          { ...axis, size: 70, values: (_u, marks) => marks.map((one) => (one === null ? '' : inWords(one))) },
        ],
        series: [
          { label: x.name },
          ...lines.map((line, i) => ({
            label: line.name,
            stroke: colours[i % colours.length],
            width: 1.5,
            points: { show: x.values.length < 40 },
            value: (_u, value) => inWords(value),
          })),
        ],
      },
      [x.values, ...values],
      box,
    )
  }

  /** From black over purple and red to yellow; by the square root, so that a tenth of the greatest load is seen. */
  function heatColour(share) {
    const at = Math.sqrt(share)
    const stops = [
      [12, 8, 38],
      [87, 16, 110],
      [188, 55, 84],
      [249, 142, 9],
      [252, 255, 164],
    ]
    const place = Math.min(at, 0.9999) * (stops.length - 1)
    const [low, high] = [stops[Math.floor(place)], stops[Math.floor(place) + 1]]
    return `rgb(${low.map((one, i) => Math.round(one + (high[i] - one) * (place % 1))).join(',')})`
  }

  function drawHeatmap({ title, unit, columns, rows, events }) {
    const most = Math.max(1e-9, ...rows.flatMap(({ values }) => values))
    make('h3', main, `${title} (${unit}; lightest ${inWords(most)})`)
    const box = make('div', make('div', main, undefined, 'scroll'), undefined, 'heat')
    const [left, cellHeight, eventHeight, footHeight] = [250, Math.max(6, Math.min(16, 320 / rows.length)), 12, 18]
    const width = Math.min(1060, Math.max(600, main.clientWidth)) - left
    const canvas = make('canvas', box)
    const height = rows.length * cellHeight
    const scale = window.devicePixelRatio || 1
    canvas.width = (left + width) * scale
    canvas.height = (height + eventHeight + footHeight) * scale
    canvas.style.width = `${left + width}px`
    canvas.style.height = `${height + eventHeight + footHeight}px`
    const pen = canvas.getContext('2d')
    pen.scale(scale, scale)
    const cellWidth = width / columns.length
    pen.font = '11px ui-monospace, monospace'
    const ink = getComputedStyle(document.body).color
    const stride = Math.ceil(12 / cellHeight)
    rows.forEach(({ label, values }, r) => {
      values.forEach((value, c) => {
        pen.fillStyle = heatColour(value / most)
        pen.fillRect(left + c * cellWidth, r * cellHeight, Math.ceil(cellWidth + 0.5), Math.ceil(cellHeight + 0.5))
      })
      if (r % stride !== 0) return
      pen.fillStyle = ink
      const words = label.length > 36 ? `…${label.slice(-35)}` : label
      pen.fillText(words, 0, r * cellHeight + Math.min(11, cellHeight))
    })
    const step = (columns.at(-1) - columns[0]) / Math.max(1, columns.length - 1) || 1
    const xOf = (at) => left + ((at - columns[0]) / (step * columns.length)) * width
    pen.strokeStyle = '#3ba7b5'
    for (const { at } of events) {
      pen.beginPath()
      pen.moveTo(xOf(at), height + 2)
      pen.lineTo(xOf(at), height + eventHeight)
      pen.stroke()
    }
    pen.fillStyle = ink
    for (let i = 0; i <= 4; i++) {
      const at = columns[0] + (step * columns.length * i) / 4
      const words = `${inWords(Math.round(at))} s`
      pen.fillText(words, Math.min(xOf(at), left + width - pen.measureText(words).width), height + eventHeight + 13)
    }
    const tip = make('div', box, undefined, 'tip')
    canvas.addEventListener('mousemove', ({ offsetX, offsetY }) => {
      const [r, c] = [Math.floor(offsetY / cellHeight), Math.floor((offsetX - left) / cellWidth)]
      const row = rows[r]
      const near = row === undefined ? nearEvent(events, xOf, offsetX) : undefined
      if ((row === undefined || c < 0 || c >= columns.length) && near === undefined) {
        tip.style.display = 'none'
        return
      }
      tip.textContent =
        near === undefined
          ? `${row.label} · ${inWords(columns[c])} s · ${inWords(row.values[c])}`
          : `${inWords(near.at)} s · ${near.words}`
      tip.style.display = 'block'
      tip.style.left = `${Math.min(offsetX + 12, left + width - tip.offsetWidth)}px`
      tip.style.top = `${offsetY + 14}px`
    })
    canvas.addEventListener('mouseleave', () => {
      tip.style.display = 'none'
    })
  }

  function nearEvent(events, xOf, x) {
    let best
    for (const event of events) {
      const distance = Math.abs(xOf(event.at) - x)
      if (distance < 5 && (best === undefined || distance < Math.abs(xOf(best.at) - x))) best = event
    }
    return best
  }

  function drawSettings(settings) {
    const details = make('details', main)
    make('summary', details, 'settings of this run')
    make(
      'pre',
      details,
      Object.entries(settings)
        .map(([name, value]) => `${name} = ${value}`)
        .join('\n'),
    )
  }
})()
