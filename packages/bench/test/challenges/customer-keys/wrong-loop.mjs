// Never comes back.
// used more than 1 s of CPU time
export async function addCustomer() {
  for (;;);
}

export async function findCustomer() {}
