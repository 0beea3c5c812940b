#!/bin/bash
# A Ray cluster for the time of one Slurm job: sbatch docs/cluster/slurm.sh. A job that meets its time
# limit goes on when it is submitted again.
#SBATCH --job-name=nodewise
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=04:00:00
set -euo pipefail
export OMP_NUM_THREADS=1
mapfile -t machines < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
address="${machines[0]}:6379"
srun --nodes=1 --ntasks=1 -w "${machines[0]}" ray start --head --port=6379 --num-cpus="$SLURM_CPUS_PER_TASK" --block &
sleep 20
for machine in "${machines[@]:1}"; do
  srun --nodes=1 --ntasks=1 -w "$machine" ray start --address="$address" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
done
sleep 20
nodewise compare cora pubmed --strategies random,age,gain --runs 1000 --out results --engine ray --address "$address"
