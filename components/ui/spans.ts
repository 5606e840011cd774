/** How long ago, in minutes, since an address with a moving time is one that can be kept. */
export const SPANS = [
  { value: '60', label: 'last hour' },
  { value: '1440', label: 'last day' },
  { value: '10080', label: 'last 7 days' },
  { value: '43200', label: 'last 30 days' },
  { value: '129600', label: 'last 90 days' },
]
