/**
 * Lays out the results that the page carries: the question and a place for a prediction first, then figures and pictures,
 * verdicts and answers folded. Pictures are drawn by pictures.js. Runs in a browser, as it is; it is no module of the package.
 */
/* global inWords, pictures */
;(() => {
  const results = JSON.parse(document.getElementById('results').textContent)
  const main = document.querySelector('main')
  const drawings = []

  const make = (tag, parent, words, className) => {
    const node = document.createElement(tag)
    if (words !== undefined) node.textContent = words
    if (className !== undefined) node.className = className
    parent.append(node)
    return node
  }

  /** Words with `code`, *emphasis* and [links](page.md): a link leads to a lab that is on the page, any other is its words. */
  const rich = (tag, parent, words, className) => {
    const node = make(tag, parent, undefined, className)
    for (const piece of words.split(/(`[^`]*`|\*[^*\s][^*]*\*|\[[^\]]*\]\([^)]*\))/)) {
      const link = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(piece)
      if (link !== null) {
        const lab = /^([\w-]+)\.md$/.exec(link[2])?.[1]
        if (results.some((one) => one.lab === lab)) make('a', node, link[1]).href = `#${lab}`
        else node.append(link[1])
      } else if (/^`.+`$/.test(piece)) make('code', node, piece.slice(1, -1))
      else if (/^\*.+\*$/.test(piece)) make('em', node, piece.slice(1, -1))
      else node.append(piece)
    }
    return node
  }

  const folded = (parent, title) => {
    const details = make('details', parent)
    make('summary', details, title)
    return details
  }

  if (results.length > 1) {
    make('h1', main, `${results.length} labs`)
    const list = make('ul', main)
    for (const { lab, title, passed } of results) {
      const item = make('li', list)
      make('a', item, lab).href = `#${lab}`
      item.append(`: ${title}${passed === false ? ' (FAILED)' : ''}`)
    }
  }
  for (const result of results) drawLab(result)
  draw()

  // A drawing has its width and the colours of the scheme in it.
  let width = main.clientWidth
  addEventListener('resize', () => {
    if (main.clientWidth === width) return
    width = main.clientWidth
    draw()
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)

  function draw() {
    for (const { node, into } of drawings) {
      node.replaceChildren()
      into(node)
    }
  }

  function drawLab(result) {
    make('h1', main, `${result.lab}: ${result.title}`).id = result.lab
    rich('p', main, result.question, 'question')
    const box = make('div', main, undefined, 'predict')
    const label = rich('label', box, `Your prediction: ${result.predict}`)
    const area = make('textarea', box)
    area.id = `prediction-${result.lab}`
    label.htmlFor = area.id
    make('p', box, 'What you write stays in this page, until you close it.', 'soft')
    rich('p', folded(main, 'What theory says'), result.idea)

    make('h2', main, 'What was seen')
    make('p', main, `seed ${result.seed}`, 'soft')
    drawFigures(result.arms)
    const node = make('div', main)
    drawings.push({ node, into: (into) => pictures(into, result, make) })
    for (const arm of result.arms) drawTexts(arm)

    drawVerdicts(result)
    drawLesson(result)
    make('pre', folded(main, 'Settings of this run'), settingsOf(result))
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
      for (const arm of arms) {
        const figure = arm.figures.find((one) => one.name === name)
        make('td', row, figure === undefined ? '' : inWords(figure.value))
      }
    }
    const list = make('ul', main, undefined, 'soft')
    for (const { name, about } of arms) make('li', list, `${name}: ${about}`)
  }

  function drawTexts({ name, texts }) {
    if (texts.length === 0) return
    const details = folded(main, `What was written down: ${name}`)
    for (const { title, lines } of texts) {
      make('h3', details, title)
      make('pre', details, lines.join('\n'))
    }
  }

  function drawVerdicts({ expectations, passed }) {
    if (passed === undefined) {
      make('p', main, 'Nothing was judged.', 'soft')
      return
    }
    make('h2', main, 'Verdicts')
    const details = folded(
      main,
      `What must be seen: ${expectations.length} expectations. Unfold when you have a prediction`,
    )
    const list = make('ul', details, undefined, 'verdicts')
    for (const { verdict, says, found } of expectations) {
      const item = make('li', list, undefined, verdict)
      make('b', item, verdict === 'fails' ? 'FAILS ' : `${verdict} `)
      item.append(says)
      make('span', item, found, 'found')
    }
    make('p', details, passed ? 'passed' : 'FAILED', 'soft')
    if (!passed) make('p', main, 'This run FAILED: an expectation does not hold.', 'fails')
  }

  function drawLesson({ exercises, today, sources }) {
    make('h2', main, 'Exercises')
    const list = make('ol', main)
    for (const { ask, answer } of exercises) {
      const item = rich('li', list, ask)
      rich('p', folded(item, 'Answer'), answer)
    }
    make('h2', main, 'Today')
    rich('p', main, today)
    make('h2', main, 'Sources')
    const origins = make('ul', main)
    for (const source of sources) rich('li', origins, source)
  }

  function settingsOf({ settings }) {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
    return lines.length === 0 ? 'none' : lines.join('\n')
  }
})()
