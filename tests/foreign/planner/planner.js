const RANK = { low: 0, normal: 1, high: 2 };

export const day = {
  orderTasks(tasks, end, least) {
    const kept = tasks.filter((task) => RANK[task.priority] >= RANK[least ?? 'low']);
    if (kept.length === 0) throw { tag: 'nothing-to-do' };
    const minutes = kept.reduce((sum, task) => sum + task.minutes, 0);
    if (end.tag === 'at-hour' && minutes > end.val * 60) throw { tag: 'too-long', val: minutes };
    return kept.sort((a, b) => RANK[b.priority] - RANK[a.priority]);
  },
  mostImportant: (among) => among.sort((a, b) => RANK[b] - RANK[a])[0],
  afterTask: (ended) => (ended.tag === 'ok' ? { tag: 'after', val: ended.val } : { tag: 'open' }),
};
