// Ends the process as if all were well.
// ended the process with exit code 0
export async function like() {}

export async function likes() {
  return 0
}

export async function everySecond() {
  process.exit(0)
}
