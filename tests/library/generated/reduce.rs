//! Makes a recipe smaller, so that a failure can be understood.

use super::recipe::{Answer, End, Links, Output, Recipe, Step, Thinking};

impl Recipe {
    /// Every session that is this one with one thing less.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for n in 0..self.steps.len() {
            let mut less = self.clone();
            less.steps.remove(n);
            out.push(less);
        }
        for (n, step) in self.steps.iter().enumerate() {
            let Step::Answer(answer) = step else {
                continue;
            };
            let mut simpler = Vec::new();
            for call in 0..answer.calls.len() {
                let mut less = answer.clone();
                less.calls.remove(call);
                simpler.push(less);
                let mut less = answer.clone();
                less.calls[call].output = Output::Short;
                simpler.push(less);
            }
            let thinking = Thinking::None;
            simpler.extend([
                Answer {
                    thinking,
                    ..answer.clone()
                },
                Answer {
                    text: false,
                    ..answer.clone()
                },
                Answer {
                    logged: false,
                    ..answer.clone()
                },
                Answer {
                    names_result: false,
                    ..answer.clone()
                },
                Answer {
                    disturbed: false,
                    ..answer.clone()
                },
            ]);
            for answer in simpler {
                let mut less = self.clone();
                less.steps[n] = Step::Answer(answer);
                out.push(less);
            }
        }
        out.push(Self {
            end: End::Answered,
            ..self.clone()
        });
        out.push(Self {
            split: true,
            ..self.clone()
        });
        if self.links == Links::OwnCallReversed {
            out.push(Self {
                links: Links::OwnCall,
                ..self.clone()
            });
        }
        out.retain(|less| less != self);
        out
    }
}
