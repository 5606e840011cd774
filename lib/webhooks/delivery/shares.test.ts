import { describe, expect, it } from 'vitest'
import { type Pace, Shares } from './shares.ts'

const limits = { total: 40, perWorkspace: 20, perOutput: 16 }

function end(shares: Shares, output: string, workspace: string, ...paces: Pace[]) {
  for (const pace of paces) {
    shares.take(output, workspace, 1)
    shares.end(output, workspace, pace)
  }
}

describe('shares', () => {
  it('starts small and gives more to a receiver that responds immediately', () => {
    const shares = new Shares(limits)
    const seen = [shares.room('a', 'w')]
    for (let n = 0; n < 5; n++) {
      end(shares, 'a', 'w', 'prompt')
      seen.push(shares.room('a', 'w'))
    }
    expect(seen).toEqual([2, 4, 8, 16, 16, 16])
  })

  it("reduces a silent receiver's share, and slowly raises a late one's", () => {
    const shares = new Shares(limits)
    end(shares, 'a', 'w', 'prompt', 'prompt', 'dead')
    expect(shares.room('a', 'w')).toBe(1)
    end(shares, 'a', 'w', 'late')
    expect(shares.room('a', 'w')).toBe(2)
  })

  it("leaves half of a workspace's places to its prompt receivers", () => {
    const shares = new Shares(limits)
    end(shares, 'good', 'w', 'prompt', 'prompt', 'prompt')
    for (let n = 0; n < 30; n++) shares.take(`hanging-${n}`, 'w', shares.room(`hanging-${n}`, 'w'))
    expect(shares.room('another', 'w')).toBe(0)
    expect(shares.room('good', 'w')).toBe(10)
  })

  it('leaves half of all places to prompt receivers in other workspaces', () => {
    const shares = new Shares(limits)
    end(shares, 'good', 'w', 'prompt', 'prompt', 'prompt')
    for (let n = 0; n < 100; n++) shares.take(`hanging-${n}`, `w${n}`, shares.room(`hanging-${n}`, `w${n}`))
    expect(shares.room('another', 'other')).toBe(0)
    expect(shares.room('good', 'w')).toBe(16)
  })

  it('counts a lagging receiver as slow before its attempt ends', () => {
    const shares = new Shares(limits)
    end(shares, 'a', 'w', 'prompt', 'prompt', 'prompt')
    shares.take('a', 'w', 10)
    expect(shares.room('new', 'w')).toBe(2)
    shares.lag('a')
    expect(shares.room('new', 'w')).toBe(0)
    for (let n = 0; n < 10; n++) shares.end('a', 'w', 'dead')
    expect(shares.room('new', 'w')).toBe(2)
  })

  it('returns unused places', () => {
    const shares = new Shares(limits)
    shares.take('a', 'w', 2)
    expect(shares.room('a', 'w')).toBe(0)
    shares.giveBack('a', 'w', 2)
    expect(shares.room('a', 'w')).toBe(2)
  })

  it('is full when every place is taken', () => {
    const shares = new Shares({ total: 2, perWorkspace: 2, perOutput: 2 })
    shares.take('a', 'w', 1)
    expect(shares.full()).toBe(false)
    shares.take('a', 'w', 1)
    expect(shares.full()).toBe(true)
  })
})
