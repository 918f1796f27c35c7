/** What other packages may use of the labs: nothing yet. */
export {}
