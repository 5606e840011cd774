/** Next.js requires this, although every page has the slot. */
export default function Default() {
  return null
}
