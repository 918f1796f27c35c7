/** A file that the browser downloads. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has begun when its click has been handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
