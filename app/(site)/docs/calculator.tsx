'use client'

import { useState } from 'react'
import { formatBytes, formatCount } from '#components/format.ts'
import { Facts } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { monthOf } from './month-of.ts'

type Props = { freeTierBytes: number; pricePerGb: string | undefined }

export function Calculator({ freeTierBytes, pricePerGb }: Props) {
  const [files, setFiles] = useState('1000')
  const [megabytes, setMegabytes] = useState('20')
  const [pricePerThousand, setPricePerThousand] = useState('')
  const month = monthOf({
    files: Number(files) || 0,
    fileBytes: (Number(megabytes) || 0) * 1e6,
    freeTierBytes,
  })
  const [amount, currency] = pricePerGb?.split(' ') ?? []
  const field = (label: string, value: string, set: (value: string) => void) => (
    <TextField
      name={label}
      label={label}
      type="number"
      min={0}
      value={value}
      onChange={(event) => set(event.target.value)}
    />
  )
  return (
    <section aria-label="Calculator" className="mt-4 rounded-lg border bg-surface p-4">
      <div className="grid gap-4 sm:grid-cols-3">
        {field('Files in a month', files, setFiles)}
        {field('Size of a file in MB', megabytes, setMegabytes)}
        {field("Provider's price of 1,000 PUTs", pricePerThousand, setPricePerThousand)}
      </div>
      <output className="mt-5 block border-t pt-4">
        <Facts
          facts={{
            Transfer: formatBytes(month.bytes),
            Free: formatBytes(month.bytes - month.paidBytes),
            'Above the free tier': formatBytes(month.paidBytes),
            Price: amount && `${((month.paidBytes / 1e9) * Number(amount)).toFixed(2)} ${currency}`,
            'PUT requests': `${formatCount(month.requests)} at each bucket`,
            "Provider's price":
              Number(pricePerThousand) > 0
                ? ((month.requests / 1000) * Number(pricePerThousand)).toFixed(2)
                : undefined,
          }}
        />
      </output>
    </section>
  )
}
