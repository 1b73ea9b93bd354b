from wit_world import exports
from wit_world.exports import day
from componentize_py_types import Err

RANK = list(day.Priority)

class Day(exports.Day):
    def order_tasks(self, tasks, end, least):
        kept = [t for t in tasks if least is None or t.priority.value >= least.value]
        if not kept:
            raise Err(day.Problem_NothingToDo())
        minutes = sum(t.minutes for t in kept)
        if isinstance(end, day.EndOfDay_AtHour) and minutes > end.value * 60:
            raise Err(day.Problem_TooLong(minutes))
        return sorted(kept, key=lambda t: -t.priority.value)

    def most_important(self, among):
        return max(among, key=lambda p: p.value, default=None)

    def after_task(self, ended):
        return day.EndOfDay_Open() if isinstance(ended, Err) else day.EndOfDay_After(ended.value)
