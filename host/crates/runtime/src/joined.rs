//! Several works of one task at the same time, without a task of their own.
//!
//! They are polled inside the future that waits for them, so that dropping it drops all of them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// One work. Its type is hidden, because futures of borrowed things lose their `Send` otherwise.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How far a work is.
enum Stage<'a, T> {
    UnderWay(Work<'a, T>),
    Done(T),
}

/// Does all works, at most `most` of them (and at least one) at the same time, begun in order.
/// Gives their results in order.
pub(crate) async fn joined<T>(works: Vec<Work<'_, T>>, most: usize) -> Vec<T> {
    let mut waiting = works.into_iter();
    let mut begun: Vec<Stage<'_, T>> = Vec::new();
    poll_fn(|context| {
        loop {
            let mut n_under_way = 0;
            for work in &mut begun {
                if let Stage::UnderWay(future) = work {
                    match future.as_mut().poll(context) {
                        Poll::Ready(result) => *work = Stage::Done(result),
                        Poll::Pending => n_under_way += 1,
                    }
                }
            }
            let n_before = begun.len();
            let free = most.max(1).saturating_sub(n_under_way);
            let next = waiting.by_ref().take(free);
            begun.extend(next.map(Stage::UnderWay));
            // What has just begun was not polled yet.
            if begun.len() == n_before {
                return match n_under_way {
                    0 => Poll::Ready(()),
                    _ => Poll::Pending,
                };
            }
        }
    })
    .await;
    let done = begun.into_iter().filter_map(|work| match work {
        Stage::Done(result) => Some(result),
        Stage::UnderWay(_) => None,
    });
    done.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn works_run_at_the_same_time_up_to_a_bound_and_keep_their_order() {
        let (under_way, most_seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let order = Mutex::new(Vec::new());
        let work = |number: u64| -> Work<'_, u64> {
            let (under_way, most_seen, order) = (&under_way, &most_seen, &order);
            Box::pin(async move {
                let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                most_seen.fetch_max(now, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(10 - number)).await;
                under_way.fetch_sub(1, Ordering::SeqCst);
                order.lock().unwrap().push(number);
                number * 10
            })
        };
        let works = |numbers: &[u64]| numbers.iter().map(|number| work(*number)).collect();
        let started = tokio::time::Instant::now();
        let results = joined(works(&[1, 2, 3, 4, 5]), 3).await;
        assert_eq!(results, [10, 20, 30, 40, 50]);
        assert_eq!(most_seen.load(Ordering::SeqCst), 3);
        assert_eq!(*order.lock().unwrap(), [3, 2, 1, 4, 5]);
        assert_eq!(started.elapsed(), Duration::from_secs(13));
        assert_eq!(joined(works(&[1, 2]), 0).await, [10, 20]);
        assert_eq!(joined(works(&[]), 3).await, [0; 0]);
    }
}
